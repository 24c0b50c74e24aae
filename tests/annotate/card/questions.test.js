// Further questions: a judgement is made with its last answer, and each answer belongs to the question on screen.

/** @import { Question } from "../../../annotate/card/core/types.js" */

import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf, readDigits, selectedAnswer } from "../../../annotate/card/core/questions.js";
import { marksOf } from "../../../annotate/card/core/state.js";
import { GradeDesk } from "./grade_desk.js";
import { Annotator } from "./helpers.js";
import { World } from "./world.js";

/** @param {string} name @param {Question["kind"]} kind @param {(number | string)[]} values @param {Partial<Question>} more @returns {Question} */
const question = (name, kind, values, more = {}) => ({
  ...{ name, kind, sentence: `${name}?`, required: true, from: null, to: null },
  answers: values.map((value) => ({ value, label: `${value}`, sentence: `${value}` })),
  ...more,
});

const CREDIBILITY = question("credibility", "grades", [0, 1, 2, 3], { from: 1 });
const EXCLUSION = question("exclusion", "choice", ["population", "design", "outcome"], { to: 0 });
const TAGS = question("tags", "tags", ["review", "protocol", "animal"], { required: false });

/** @param {Question[]} questions */
function open(questions = [CREDIBILITY, EXCLUSION, TAGS], desk = new GradeDesk()) {
  const world = new World(desk.kind, desk, 0, { questions });
  return new Annotator(desk, { world });
}

/** @typedef {ReturnType<typeof open>} Ada */

/** @param {Ada} ada @param {(number | string)[]} values */
function respond(ada, ...values) {
  for (const value of values) ada.act({ type: "respond", value, ...ada.tab.by() });
}

/** @param {Ada} ada @param {boolean} clears */
const pass = (ada, clears = false) => ada.act({ type: "pass", clears, ...ada.tab.by() });

/** @param {Ada} ada */
const stepBack = (ada) => ada.act({ type: "step-back" });

/** The name of the question on screen; "main" for the grade. @param {Ada} ada */
const asked = (ada) => ada.item && (ada.item.question?.name ?? "main");

/** @param {Ada} ada */
const selected = (ada) => ada.item && selectedAnswer(ada.state, ada.item);

/** What the server has: documents with their grades and answers. @param {Ada} ada */
function saved(ada) {
  ada.sync();
  return [...ada.desk.log.values()].map(({ doc_id, kind, relevance, answers }) =>
    [doc_id, relevance ?? kind, ...(answers ? [answers] : [])].filter((each) => each !== undefined),
  );
}

test("the last answer makes the decision, one with its grade", () => {
  const ada = open();
  ada.grade(2);
  assert.deepEqual(
    [asked(ada), ada.item && placeOf(ada.state, ada.item), ada.notice],
    ["credibility", [1, 2], "unfinished"],
  );
  assert.equal(ada.stored, 0);
  respond(ada, 3);
  assert.equal(asked(ada), "tags");
  respond(ada, "animal", "review", "animal");
  assert.deepEqual(selected(ada), ["review"]);
  pass(ada);
  assert.deepEqual([ada.shown, asked(ada)], ["d101", "main"]);
  ada.grade(0);
  respond(ada, "design");
  pass(ada);
  assert.deepEqual(saved(ada), [
    ["d100", 2, { credibility: 3, tags: ["review"] }],
    ["d101", 0, { exclusion: "design" }],
  ]);
});

test("without a question for the grade, and where it cannot be judged, one key decides", () => {
  const ada = open([CREDIBILITY]);
  ada.grade(0);
  ada.grade(1);
  assert.equal(asked(ada), "credibility");
  ada.decide({ kind: "cannot judge", reason: "broken" });
  assert.deepEqual(saved(ada), [
    ["d100", 0],
    ["d101", "cannot judge"],
  ]);
  assert.deepEqual(ada.state.drafts, {});
});

const REASON = question("reason", "choice", ["population", "outcome"], { to: 0, required_in: ["t2"] });

/** Decides with the questions that are asked on request. @param {import("./helpers.js").Annotator} ada */
const askToo = (ada) =>
  ada.act({ type: "decide", answer: { kind: "graded", relevance: 0 }, asks: true, ...ada.tab.by() });

test("a question that is required in another topic is asked on request, and one key decides", () => {
  const ada = open([REASON]);
  ada.grade(0);
  assert.deepEqual([ada.shown, asked(ada)], ["d101", "main"]);
  askToo(ada);
  assert.deepEqual([ada.shown, asked(ada)], ["d101", "reason"]);
  respond(ada, "outcome");
  askToo(ada);
  pass(ada);
  assert.deepEqual(saved(ada), [
    ["d100", 0],
    ["d101", 0, { reason: "outcome" }],
    ["d102", 0],
  ]);
  ada.look(-1);
  ada.look(-1);
  assert.equal(ada.shown, "d101");
  ada.grade(0); // the same grade: the reason that was given stays
  assert.deepEqual(saved(ada).at(-1), ["d101", 0, { reason: "outcome" }]);
  ada.look(-1);
  ada.grade(1);
  assert.deepEqual(saved(ada).at(-1), ["d101", 1]);
});

test("where it is required, the same question follows its grade and needs an answer", () => {
  const ada = open([REASON]);
  ada.act({ type: "topic", queryId: "t2" });
  ada.sync();
  ada.grade(0);
  pass(ada);
  assert.deepEqual([asked(ada), ada.notice], ["reason", "answer-required"]);
  respond(ada, "population");
  assert.deepEqual(saved(ada), [["d200", 0, { reason: "population" }]]);
});

test("on request, it comes in its place among the others", () => {
  const ada = open([TAGS, REASON]);
  ada.grade(0);
  assert.deepEqual([asked(ada), ada.item && placeOf(ada.state, ada.item)], ["tags", [1, 1]]);
  pass(ada);
  askToo(ada);
  assert.deepEqual([asked(ada), ada.item && placeOf(ada.state, ada.item)], ["tags", [1, 2]]);
  pass(ada);
  assert.equal(asked(ada), "reason");
  stepBack(ada);
  assert.equal(asked(ada), "tags");
  pass(ada);
  respond(ada, "population");
  assert.deepEqual(saved(ada), [
    ["d100", 0],
    ["d101", 0, { reason: "population" }],
  ]);
});

test("a required question needs an answer, and tags may be confirmed to be none", () => {
  const ada = open([CREDIBILITY, { ...TAGS, required: true }]);
  ada.grade(1);
  pass(ada);
  assert.deepEqual([asked(ada), ada.notice], ["credibility", "answer-required"]);
  respond(ada, 0);
  pass(ada);
  assert.deepEqual(saved(ada), [["d100", 1, { credibility: 0, tags: [] }]]);
});

test("going back keeps the answers, and Enter keeps each of them again", () => {
  const ada = open();
  ada.grade(2);
  respond(ada, 3, "review");
  stepBack(ada);
  assert.deepEqual([asked(ada), selected(ada)], ["credibility", 3]);
  ada.undo();
  assert.deepEqual([asked(ada), ada.notice], ["main", "main-question"]);
  ada.grade(3);
  pass(ada);
  assert.deepEqual([asked(ada), selected(ada)], ["tags", ["review"]]);
  pass(ada, true);
  assert.deepEqual(saved(ada), [["d100", 3, { credibility: 3 }]]);
});

test("a key for a question that is no longer on screen answers nothing", () => {
  const ada = open();
  ada.grade(2);
  const on = ada.tab.drawn;
  respond(ada, 1);
  ada.act({ type: "respond", value: 2, ...ada.tab.by(on) });
  assert.deepEqual([asked(ada), ada.notice], ["tags", "just-changed"]);
  ada.act({ type: "decide", answer: { kind: "graded", relevance: 3 }, ...ada.tab.by(on) });
  pass(ada);
  assert.deepEqual(saved(ada), [["d100", 2, { credibility: 1 }]]);
});

test("what is half answered waits for its document: skipped, left, reloaded and in another tab", () => {
  let ada = open([CREDIBILITY, TAGS], new GradeDesk(3, 3));
  ada.grade(2);
  respond(ada, 3);
  ada.skip();
  for (const id of ["d101", "d102"]) {
    assert.deepEqual([ada.shown, asked(ada)], [id, "main"]);
    ada.grade(0);
    pass(ada);
  }
  assert.deepEqual([ada.shown, asked(ada)], ["d100", "tags"]);
  ada.sync();
  ada = ada.reload();
  assert.deepEqual([ada.shown, asked(ada), selected(ada)], ["d100", "tags", undefined]);
  ada.turnTo("t2");
  ada.sync();
  assert.deepEqual([ada.shown, asked(ada)], ["d200", "main"]);
  ada.turnTo("t1");
  ada.sync();
  const other = new Annotator(ada.desk, { world: ada.world });
  assert.deepEqual([other.shown, asked(other)], ["d100", "tags"]);
  respond(other, "review");
  pass(other);
  assert.deepEqual(saved(other).at(-1), ["d100", 2, { credibility: 3, tags: ["review"] }]);
  ada.look(-1);
  assert.deepEqual([ada.shown, asked(ada)], ["d100", "main"]);
});

test("a revision asks again with the former answers, and is discarded when it is left", () => {
  const ada = open();
  ada.grade(2);
  respond(ada, 3, "review");
  pass(ada);
  ada.look(-1);
  assert.deepEqual(ada.item?.entry?.decision.answers, { credibility: 3, tags: ["review"] });
  ada.grade(1);
  assert.deepEqual([asked(ada), selected(ada)], ["credibility", 3]);
  respond(ada, 0);
  ada.look(1);
  assert.deepEqual([ada.shown, ada.state.notice?.discarded], ["d101", true]);
  ada.look(-1);
  ada.grade(3);
  pass(ada);
  pass(ada);
  assert.deepEqual(saved(ada), [
    ["d100", 2, { credibility: 3, tags: ["review"] }],
    ["d100", 3, { credibility: 3, tags: ["review"] }],
  ]);
});

test("undo takes back all answers of a decision, which are selected when it is made again", () => {
  const ada = open();
  ada.grade(2);
  respond(ada, 3);
  pass(ada);
  ada.undo();
  assert.deepEqual([ada.shown, asked(ada), ada.item?.unit.before?.answers], ["d100", "main", { credibility: 3 }]);
  ada.grade(2);
  assert.equal(selected(ada), 3);
  respond(ada, 1);
  pass(ada);
  assert.deepEqual(saved(ada), [
    ["d100", 2, { credibility: 3 }],
    ["d100", "undone"],
    ["d100", 2, { credibility: 1 }],
  ]);
});

test("a note or flag on an earlier decision changes no answer", () => {
  const ada = open();
  ada.grade(2);
  ada.mark({ note: "unsure" });
  assert.equal(asked(ada), "credibility");
  respond(ada, 3);
  pass(ada);
  ada.look(-1);
  ada.grade(1);
  ada.mark({ flagged: true });
  assert.deepEqual([asked(ada), ada.item?.entry?.decision.flagged], ["credibility", true]);
  ada.mark({ flagged: true });
  assert.deepEqual(saved(ada), [
    ["d100", 2, { credibility: 3 }],
    ["d100", 2, { credibility: 3 }],
  ]);
});

test("a judgement that lacks an answer opens at the first missing question, with everything else", () => {
  const desk = new GradeDesk(2);
  const ada = open([CREDIBILITY], desk);
  ada.grade(2);
  ada.mark({ note: "unsure" });
  respond(ada, 3);
  ada.grade(0);
  ada.sync();
  assert.equal(ada.shown, null);
  const effort = question("effort", "grades", [0, 1, 2]);
  ada.world.campaign.questions = [effort, CREDIBILITY, TAGS];
  desk.questions = ada.world.campaign.questions;
  ada.tab.dispatch({ type: "mount", fresh: true, requested: null, questions: ada.world.questions });
  ada.sync();
  assert.deepEqual([ada.shown, asked(ada)], ["d100", "effort"]);
  assert.equal(ada.item && marksOf(desk.kind, ada.state, ada.item).note, "unsure");
  respond(ada, 1);
  assert.deepEqual([ada.shown, asked(ada)], ["d101", "effort"]);
  stepBack(ada);
  assert.equal(asked(ada), "main");
  ada.grade(1);
  respond(ada, 2);
  assert.equal(asked(ada), "credibility");
  respond(ada, 0);
  pass(ada);
  assert.deepEqual(saved(ada).slice(2), [
    ["d100", 2, { effort: 1, credibility: 3 }],
    ["d101", 1, { effort: 2, credibility: 0 }],
  ]);
  assert.equal([...desk.log.values()][2]?.note, "unsure");
});

test("questions that change while the card is open apply at once, and no answer goes to another question", () => {
  const ada = open();
  ada.grade(2);
  const on = ada.tab.drawn;
  const rerun = (/** @type {Question[]} */ questions) => {
    ada.world.campaign.questions = questions;
    ada.tab.dispatch({ type: "mount", fresh: false, requested: null, questions: ada.world.questions });
  };
  rerun([{ ...CREDIBILITY, answers: CREDIBILITY.answers.slice(0, 2) }, TAGS]);
  ada.act({ type: "respond", value: 1, ...ada.tab.by(on) });
  assert.deepEqual([asked(ada), ada.notice], ["credibility", "just-changed"]);
  respond(ada, 3);
  assert.equal(asked(ada), "credibility");
  rerun([TAGS]);
  assert.equal(asked(ada), "main");
  ada.grade(1);
  assert.equal(asked(ada), "tags");
  rerun([]);
  ada.grade(1);
  assert.deepEqual(saved(ada), [["d100", 1]]);
});

test("the answers of a refused decision wait for the next one", () => {
  const ada = open([CREDIBILITY]);
  ada.desk.refuses = ["d100"];
  ada.grade(2);
  respond(ada, 3);
  ada.sync();
  ada.turnTo("t2");
  ada.sync();
  ada.turnTo("t1");
  ada.sync();
  assert.deepEqual([ada.shown, asked(ada)], ["d100", "main"]);
  ada.grade(1);
  assert.equal(selected(ada), 3);
});

test("nobody takes over a document that is half answered", () => {
  const ada = open();
  ada.grade(2);
  ada.desk.log.set(
    "x",
    /** @type {any} */ ({ uuid: "x", query_id: "t1", doc_id: "d100", kind: "graded", relevance: 0 }),
  );
  ada.leave();
  assert.deepEqual([ada.shown, asked(ada)], ["d100", "credibility"]);
});

test("what annotators agree on is selected for the adjudicator, and differences are not", () => {
  const opinion = (/** @type {number | null} */ relevance, /** @type {object} */ answers) =>
    /** @type {any} */ ({ kind: relevance === null ? "cannot judge" : "graded", relevance, answers });
  /** @param {any[]} opinions @param {Question} asks */
  const agreed = (opinions, asks) => {
    const desk = new GradeDesk();
    const item = /** @type {any} */ ({ unit: { opinions }, entry: null, subject: "s", question: asks });
    return selectedAnswer(new World(desk.kind, desk).open().state, item);
  };
  const [same, other] = [opinion(1, { credibility: 2, tags: ["review"] }), opinion(3, { credibility: 2, tags: [] })];
  assert.equal(agreed([same, other], CREDIBILITY), 2);
  assert.equal(agreed([same, other], TAGS), undefined);
  const orders = [
    ["review", "protocol"],
    ["protocol", "review"],
  ].map((tags) => opinion(1, { tags }));
  assert.deepEqual(agreed(orders, TAGS), ["review", "protocol"], "the order of a question may have been changed");
  const partly = [opinion(1, { tags: ["review", "protocol"] }), opinion(0, { tags: ["animal", "protocol"] })];
  assert.deepEqual(agreed(partly, TAGS), ["protocol"], "each tag is an answer of its own");
  assert.equal(agreed([same, opinion(0, { exclusion: "design" })], CREDIBILITY), 2);
  assert.equal(agreed([same, opinion(null, {})], EXCLUSION), undefined);
  assert.equal(agreed([same, opinion(2, {})], CREDIBILITY), undefined);
});

test("digits act at once where they can mean only one number", () => {
  const grades = Array.from({ length: 21 }, (_, i) => i);
  assert.deepEqual(readDigits(grades, "0"), { number: 0, waits: false });
  assert.deepEqual(readDigits(grades, "1"), { number: 1, waits: true });
  assert.deepEqual(readDigits(grades, "2"), { number: 2, waits: true });
  assert.deepEqual(readDigits(grades, "3"), { number: 3, waits: false });
  assert.deepEqual(readDigits(grades, "20"), { number: 20, waits: false });
  assert.deepEqual(readDigits(grades, "25"), { number: null, waits: false });
  assert.deepEqual(readDigits([10, 11], "1"), { number: null, waits: true });
});
