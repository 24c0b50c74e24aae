// The lists and counts are compared with those of the library in tests/collection/core/test_phrases.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asSentence, plural } from "../../../annotate/card/view/frame/phrases.js";

test("a plural of its own", () => {
  assert.deepEqual(
    [0, 1, 2].map((number) => plural(number, "query", "queries")),
    ["queries", "query", "queries"],
  );
});

test("a sentence on its own line", () => {
  assert.equal(asSentence("saved at once."), "Saved at once");
});
