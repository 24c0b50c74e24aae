// The nuggets of an answer, as the card lists them beside it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { nuggetsOf } from "../../../annotate/card/view/panels/answer_task.js";

/** @param {string} queryId @param {string} docId @param {number} relevance */
const entry = (queryId, docId, relevance) => ({
  title: `Nugget ${docId}`,
  decision: { query_id: queryId, doc_id: docId, kind: "graded", relevance },
});

test("nuggets of an answer are listed in the order of the server, with what was decided on those of this answer", () => {
  const nuggets = ["1.n10.v1", "1.n2.v1", "1.n9.v2"].map((doc_id) => ({ doc_id, title: `Nugget ${doc_id}` }));
  const unit = /** @type {any} */ ({ queryId: "1.a100", documents: [{ doc_id: "1.n9.v2", nuggets }] });
  const state = /** @type {any} */ ({
    history: [
      entry("1.a200", "1.n2.v1", 2),
      entry("1.a100", "1.n2.v1", 0),
      entry("1.a100", "1.n9.v1", 0), // its text has changed since
    ],
  });
  const listed = nuggetsOf({ state }, unit).map(({ docId, title, entry }) => [docId, title, entry?.decision.relevance]);
  assert.deepEqual(listed, [
    ["1.n10.v1", "Nugget 1.n10.v1", undefined],
    ["1.n2.v1", "Nugget 1.n2.v1", 0],
    ["1.n9.v2", "Nugget 1.n9.v2", undefined],
  ]);
});
