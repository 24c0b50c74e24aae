// The durations, lists and counts are compared with those of the library in tests/test_phrases.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import { asSentence, briefly, durationRange, plural, rounded } from "../../../annotate/card/view/frame/phrases.js";

test("halves become even", () => {
  assert.deepEqual(
    [0.5, 1.5, 2.5].map((half) => rounded(half)),
    ["0", "2", "2"],
  );
  assert.equal(rounded(1234.25, 1), "1,234.2");
});

test("a plural of its own", () => {
  assert.deepEqual(
    [0, 1, 2].map((number) => plural(number, "query", "queries")),
    ["queries", "query", "queries"],
  );
});

test("durations in a table have the sign of their unit", () => {
  assert.deepEqual([5, 600, 5400, 36_000].map(briefly), ["5 s", "10 min", "1.5 h", "10 h"]);
});

test("an interval names its unit once", () => {
  assert.equal(durationRange(2400, 3000), "40-50 minutes");
  assert.equal(durationRange(60, 60), "60 seconds");
});

test("a sentence on its own line", () => {
  assert.equal(asSentence("saved at once."), "Saved at once");
});
