// Sentences of the card in the words of a campaign.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { inWords } from "../../../annotate/card/core/words.js";

const WORDS = {
  document: "record",
  documents: "records",
  "how relevant is this document?": "Does this record meet the criteria?",
  "an unjudged": "an unscreened",
  judged: "screened",
};

test("words are put in their place whole, the longest phrase first, with the same first letter", () => {
  const words = inWords(WORDS);
  assert.equal(
    words("Documents: a document is judged, documented, prejudged."),
    "Records: a record is screened, documented, prejudged.",
  );
  assert.equal(words("How relevant is this document?"), "Does this record meet the criteria?");
  assert.equal(words("An unjudged document"), "An unscreened record");
});

test("what is inserted into a template stays as it is", () => {
  const title = "The judged document";
  assert.equal(inWords(WORDS)`This document: ${title}, ${3} documents`, "This record: The judged document, 3 records");
});

test("without words nothing changes", () => {
  for (const words of [inWords(undefined), inWords({})]) {
    assert.equal(words("a document"), "a document");
    assert.equal(words`a ${"judged"} document`, "a judged document");
  }
});

test("without words any text stays what it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.array(fc.string()), (text, values) => {
      const words = inWords(undefined);
      assert.equal(words(text), text);
      const parts = [text, ...values.map(() => "judged document")];
      assert.equal(words(parts, ...values), String.raw({ raw: parts }, ...values));
    }),
  );
});
