// What the card for grades says: where nothing is on screen, of the time that is left, and which judgements its history lists.

/** @import { GradeScope } from "../../../annotate/card/core/types.js" */
/** @import { Decision, Doc, Entry, Stored, State, Topic, Unit } from "../../../annotate/card/core/types.js" */
/** @import { Row } from "../../../annotate/card/view/panels/history.js" */

import assert from "node:assert/strict";
import { test } from "node:test";
import { grade } from "../../../annotate/card/core/kinds/grade.js";
import { pairId } from "../../../annotate/card/core/kinds/pairs.js";
import { step } from "../../../annotate/card/core/machine.js";
import { initial, onKey } from "../../../annotate/card/core/state.js";
import { restOf } from "../../../annotate/card/view/frame/rest.js";
import { listPast, meets } from "../../../annotate/card/view/panels/history.js";

/** @type {Stored} */
const KEPT = { tab: "tab", outbox: [], drafts: {}, refused: [], skipped: [] };

/** @param {Partial<Topic>} more @returns {Topic} */
const topic = (more = {}) => ({
  query_id: "t1",
  title: "wings",
  description: "",
  narrative: "",
  pool: 10,
  judged: 0,
  without_text: 0,
  ...more,
});

/** @param {Partial<GradeScope>} scope @param {Partial<State>} more @returns {State<GradeScope>} */
function stateOf(scope = {}, more = {}) {
  const state = initial(grade, KEPT);
  return {
    ...state,
    ...more,
    scope: { ...state.scope, topics: [topic(), topic({ query_id: "t2" })], topic: "t1", ...scope },
  };
}

// ------------------------------------------------------------------------------- nothing on screen

/** @type {[string, State<GradeScope>, boolean, string, boolean][]} */
const RESTS = [
  ["no topics yet", stateOf({ topics: null }), false, "Loading …", false],
  ["no topic at all", stateOf({ topics: [], topic: null }), false, "Nothing to judge yet", false],
  ["fetching", stateOf(), false, "Loading …", false],
  ["no connection", stateOf(), true, "No connection", true],
  ["all done", stateOf({ topics: [topic({ judged: 10 })] }), false, "All documents are judged", false],
  [
    "all with text done",
    stateOf({ topics: [topic({ judged: 10, without_text: 2 })] }),
    false,
    "All documents with text are judged",
    false,
  ],
  [
    "this topic done",
    stateOf({ topics: [topic({ judged: 1200, pool: 1200 }), topic({ query_id: "t2" })] }),
    false,
    "Topic done: 1,200 of 1,200",
    true,
  ],
  [
    "no pool here",
    stateOf({ topics: [topic({ pool: 0 }), topic({ query_id: "t2" })] }),
    false,
    "This topic has no pool",
    true,
  ],
  [
    "no text here",
    stateOf({ topics: [topic({ pool: 0, without_text: 3 }), topic({ query_id: "t2" })] }),
    false,
    "No document has text yet",
    true,
  ],
  ["others have the rest", stateOf({}, { exhausted: true }), false, "No free document right now", true],
  [
    "others have the rest, and another topic has some",
    stateOf({ nextTopic: "t2" }, { exhausted: true }),
    false,
    "No free document in this topic",
    true,
  ],
  [
    "the budget is used up",
    stateOf({ budget: "The budget of 40 judgements is used up" }, { exhausted: true }),
    false,
    "The budget of 40 judgements is used up",
    false,
  ],
  ["the model chooses", stateOf({ topics: [topic({ pool: null })], inLoop: true }), false, "Loading …", false],
  [
    "the model cannot choose",
    stateOf({ topics: [topic({ pool: null })], inLoop: true, problem: "no memory" }, { exhausted: true }),
    false,
    "The model cannot choose documents",
    true,
  ],
  [
    "the loop has nothing left in this topic",
    stateOf({ topics: [topic({ pool: null })], inLoop: true, nextTopic: "t2" }, { exhausted: true }),
    false,
    "Nothing left in this topic",
    true,
  ],
  [
    "the loop has nothing left in any topic",
    stateOf({ topics: [topic({ pool: null })], inLoop: true }, { exhausted: true }),
    false,
    "No free document right now",
    false,
  ],
  [
    "nothing is selected in this topic",
    stateOf({ topics: [topic({ pool: null })], acrossTopics: true, nextTopic: "t2" }, { exhausted: true }),
    false,
    "No selected documents in this topic",
    true,
  ],
  [
    "nothing is selected in any topic",
    stateOf({ topics: [topic({ pool: null })], acrossTopics: true }, { exhausted: true }),
    false,
    "No free document right now",
    false,
  ],
  [
    "a closed topic where the loop chooses across topics",
    stateOf(
      { topics: [topic({ pool: 3, judged: 3 }), topic({ query_id: "t2" })], acrossTopics: true },
      { exhausted: true },
    ),
    false,
    "Topic done: 3 of 3",
    true,
  ],
];

for (const [name, state, cutOff, title, next] of RESTS) {
  test(`nothing on screen: ${name}`, () => {
    const [said, words, offered = false] = restOf(state, cutOff);
    assert.deepEqual([said, offered], [title, next]);
    assert.match(words, /\.|no memory$/);
  });
}

test("only at the end of a review, a card with nothing left leads to the report", () => {
  const loop = topic({ query_id: "review", pool: null });
  const done = topic({ query_id: "full-text", judged: 10 });
  const left = stateOf({ topics: [loop, done], topic: "full-text" }, { exhausted: true });
  /** @param {State<GradeScope>} state */
  const end = (state, isReview = true) => restOf(state, false, isReview).slice(2);
  assert.deepEqual(end(left), [false, true]);
  assert.match(restOf(left, false, true)[1], /Managers can download/);
  assert.deepEqual(end(stateOf({ ...left.scope, topic: "review", inLoop: true }, { exhausted: true })), [false, true]);
  assert.deepEqual(end(stateOf({ ...left.scope, nextTopic: "review" }, { exhausted: true })), [true, false]);
  assert.deepEqual(end(left, false), [true, false]);
});

test("a topic that is done says how many documents have no text yet", () => {
  const topics = [topic({ judged: 10, without_text: 1 }), topic({ query_id: "t2" })];
  assert.equal(
    restOf(stateOf({ topics }), false)[1],
    "Nothing is left for you in this topic. 1 more document has no text yet. Continue with the next topic.",
  );
});

// ------------------------------------------------------------------------------------------ history

const NO_FILTER = { topic: "", grade: "", words: "" };

/** @param {string} doc_id @param {number | null} relevance @param {Partial<Row>} more @returns {Row} */
const row = (doc_id, relevance, more = {}) => ({
  query_id: "t1",
  doc_id,
  title: `title of ${doc_id}`,
  kind: relevance === null ? "cannot judge" : "graded",
  relevance,
  former: [],
  ...more,
});

/** @param {string} doc_id @param {number} relevance @param {Partial<Entry>} more @returns {Entry} */
function entry(doc_id, relevance, more = {}) {
  /** @type {Decision} */
  const decision = {
    uuid: `u-${doc_id}-${relevance}`,
    query_id: "t1",
    doc_id,
    kind: "graded",
    relevance,
    reason: null,
  };
  return { decision, title: doc_id, unit: null, was: null, order: 1_700_000_000_000_000, ...more };
}

test("a filter of the history", () => {
  const café = row("d1", 2, { note: "Un café", flagged: true });
  /** @type {[Partial<typeof NO_FILTER>, boolean][]} */
  const cases = [
    [{}, true],
    [{ topic: "t1" }, true],
    [{ topic: "t2" }, false],
    [{ grade: "2" }, true],
    [{ grade: "1" }, false],
    [{ grade: "flagged" }, true],
    [{ grade: "cannot judge" }, false],
    [{ words: "CAFE  flow" }, true],
    [{ words: "cafe turbulent" }, false],
  ];
  for (const [filter, met] of cases)
    assert.equal(meets(café, { ...NO_FILTER, ...filter }, "laminar flow"), met, JSON.stringify(filter));
  assert.equal(meets(row("d2", null), { ...NO_FILTER, grade: "cannot judge" }), true);
  assert.equal(meets(row("d2", null), { ...NO_FILTER, grade: "0" }), false);
});

test("the history lists what this browser knows over what the server has answered", () => {
  const was = entry("d1", 1);
  const history = [entry("d3", 0, { order: 0 }), entry("d1", 3, { was }), entry("d2", 2)];
  const logged = [row("d3", 0), row("d1", 1), row("d0", 1)];
  const listed = listPast(stateOf({}, { history }), logged, NO_FILTER, false);
  assert.deepEqual(
    listed.map(({ doc_id, relevance, former }) => [doc_id, relevance, former.map((each) => each.relevance)]),
    [
      ["d2", 2, []],
      ["d1", 3, [1]],
      ["d3", 0, []],
      ["d0", 1, []],
    ],
  );
});

test("without an answer the history lists all that this browser knows", () => {
  const history = [entry("d3", 0, { order: 0 }), entry("d2", 2)];
  const listed = listPast(stateOf({}, { history }), [], NO_FILTER, true);
  assert.deepEqual(
    listed.map(({ doc_id, judged_at }) => [doc_id, judged_at]),
    [
      ["d2", "2023-11-14T22:13:20.000Z"],
      ["d3", null],
    ],
  );
});

test("what is open again is not listed", () => {
  const { decision } = entry("d1", 1);
  const undone = { decision: { ...decision, uuid: "u", kind: "undone" }, order: 1, delta: -1, title: "", tab: "tab" };
  /** @type {Unit} */
  const unit = { id: pairId("t1", "d2"), queryId: "t1", documents: [] };
  const listed = listPast(
    stateOf({}, { outbox: [undone], units: [unit] }),
    [row("d1", 1), row("d2", 2)],
    NO_FILTER,
    false,
  );
  assert.deepEqual(listed, []);
});

// ------------------------------------------------------------------------------------------- the answer

test("judgements without a grade name none, as the server's types have it", () => {
  const by = { shown_at: "2026-03-12T13:20:00Z", seconds: 1, away: 0, source: /** @type {const} */ ("key") };
  /** @type {Unit} */
  const unit = { id: pairId("t1", "d1"), queryId: "t1", documents: [/** @type {Doc} */ ({ doc_id: "d1", title: "" })] };
  const before = stateOf({}, { units: [unit] });
  const on = onKey(grade, before);
  const answer = { kind: "cannot judge", reason: "It is empty." };
  const { state } = step(grade, before, { type: "decide", answer, at: 1, uuid: "u1", on, ...by });
  const undone = step(grade, state, { type: "undo", at: 2, uuid: "u2", on: null, ...by }).state;
  assert.deepEqual(
    undone.outbox.map(({ decision }) => [decision.kind, decision.relevance]),
    [
      ["cannot judge", null],
      ["undone", null],
    ],
  );
});
