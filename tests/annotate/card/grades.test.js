// Grades: topics, the loop, and how documents come and go. What they share with lists is tested there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, isDone, topicOf } from "../../../annotate/card/core/kinds/counts.js";
import { docOf } from "../../../annotate/card/core/kinds/pairs.js";
import { marksOf } from "../../../annotate/card/core/state.js";
import { restOf } from "../../../annotate/card/view/frame/rest.js";
import { GradeDesk } from "./grade_desk.js";
import { Annotator } from "./helpers.js";
import { doc } from "./world.js";

/** @import { Topic } from "../../../annotate/card/core/types.js" */
/** @typedef {Annotator<GradeDesk>} Ada */

/** @param {{ order?: string[], sizes?: number[], requested?: string }} how */
function open({ order, sizes = [], requested } = {}) {
  const desk = new GradeDesk(...sizes);
  if (order) desk.order = order;
  return new Annotator(desk, { ...(requested && { requested }) });
}

/** @param {Ada} ada @param {number[]} grades */
function give(ada, ...grades) {
  for (const each of grades) ada.grade(each);
}

/** @param {Ada} ada */
const topic = (ada) => ada.state.scope.topic;

/** Judged of the open topic, and of all. @param {Ada} ada */
const counts = (ada) => [
  countOf(ada.state, topicOf(ada.state.scope, topic(ada)) ?? null).judged,
  countOf(ada.state, null).judged,
];

/** The marks of what is on screen. @param {Ada} ada */
const marks = (ada) => ada.item && marksOf(ada.desk.kind, ada.state, ada.item);

/** The title of what stands where nothing is on screen. @param {Ada} ada */
const rest = (ada) => restOf(ada.state, false)[0];

/** Documents that are held, the one on screen first. @param {Ada} ada */
const queue = (ada) => ada.state.units.map((unit) => docOf(unit).doc_id);

/** @param {Ada} ada @param {string} docId */
function take(ada, docId, atOnce = true, queryId = topic(ada)) {
  ada.tab.dispatch({ type: "take", queryId, doc: doc(docId), atOnce });
}

/** Requests of documents, without those for topics. @param {Ada} ada */
const requested = (ada) => ada.desk.requests.filter(({ route }) => route === "sync");

// ------------------------------------------------------------------------------- undo, look back, skip

test("undo goes back one by one, and what was undone is known", () => {
  const ada = open();
  give(ada, 3, 2);
  ada.undo();
  assert.deepEqual([ada.shown, ada.item?.unit.before?.relevance], ["d101", 2]);
  ada.undo();
  assert.deepEqual([ada.shown, ada.item?.unit.before?.relevance], ["d100", 3]);
  assert.deepEqual(counts(ada), [0, 0]);
  ada.undo();
  assert.equal(ada.notice, "nothing-to-undo");
  give(ada, 0, 1);
  assert.equal(ada.shown, "d102");
  ada.saved("d100: 3", "d101: 2", "d101: undone", "d100: undone", "d100: 0", "d101: 1");
  assert.deepEqual(counts(ada), [2, 2]);
});

test("undo reaches back beyond a reload", () => {
  let ada = open();
  give(ada, 3, 2);
  ada.sync();
  ada = ada.reload();
  assert.equal(ada.shown, "d102");
  ada.undo();
  ada.undo();
  assert.deepEqual([ada.shown, ada.item?.unit.before?.relevance], ["d100", 3]);
  ada.saved("d100: 3", "d101: 2", "d101: undone", "d100: undone");
});

test("a revision comes last in the history, and undo takes what is looked at", () => {
  const ada = open();
  give(ada, 3, 2, 1);
  ada.look(-2);
  assert.equal(ada.item?.entry?.decision.relevance, 2);
  ada.grade(0);
  assert.deepEqual([ada.shown, ada.state.notice?.revised], ["d103", true]);
  ada.look(-1);
  assert.deepEqual([ada.shown, ada.item?.entry?.decision.relevance], ["d101", 0]);
  ada.look(-1);
  ada.undo();
  assert.equal(ada.shown, "d102");
  ada.saved("d100: 3", "d101: 2", "d102: 1", "d101: 0", "d102: undone");
  assert.deepEqual(counts(ada), [2, 2]);
});

test("skipped documents come last, and the server is told", () => {
  const ada = open({ requested: "t2" });
  ada.skip();
  assert.equal(ada.shown, "d201");
  give(ada, 1, 2);
  assert.equal(ada.shown, "d200");
  ada.skip();
  assert.equal(ada.notice, "only-one");
  ada.grade(3);
  assert.equal(rest(ada), "Topic done: 3 of 3");
  ada.saved("d201: 1", "d202: 2", "d200: 3");
  assert.deepEqual(ada.desk.skips, [{ query_id: "t2", doc_id: "d200" }]);
});

test("the undo of another topic goes back to it", () => {
  const ada = open({ requested: "t2" });
  ada.grade(1);
  ada.tab.dispatch({ type: "next-topic" });
  ada.sync();
  assert.equal(ada.shown, "d300");
  ada.undo();
  assert.deepEqual([topic(ada), ada.shown], ["t2", "d200"]);
  ada.grade(2);
  ada.sync();
  assert.equal(ada.shown, "d201");
  ada.saved("d200: 1", "d200: undone", "d200: 2");
});

// ------------------------------------------------------------------------------------- network, refusals

test("a server that was down gets everything once and in order", () => {
  for (const isAfter of [false, true]) {
    const ada = open();
    Object.assign(ada.desk, { status: 500, isAfter });
    give(ada, 0, 1, 2, 3);
    ada.sync();
    assert.equal(ada.stored, 4);
    ada.undo();
    ada.grade(2);
    assert.equal(ada.stored, 6);
    ada.desk.status = null;
    ada.world.pass(10_000);
    ada.saved("d100: 0", "d101: 1", "d102: 2", "d103: 3", "d103: undone", "d103: 2");
    assert.deepEqual(counts(ada), [4, 4]);
  }
});

test("judgements are sent although the topics do not come", () => {
  const ada = open();
  ada.tab.dispatch({ type: "mount", fresh: true, requested: null });
  const { answers, requests } = ada.world;
  ada.grade(1);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    while (requests.length)
      if (requests[0]?.request.route === "topics") ada.world.lose("requests", 0, 500);
      else ada.world.serve(0);
    while (answers.length) ada.world.answer(0);
    ada.world.pass(11_000);
  }
  assert.deepEqual(ada.log, ["d100: 1"]);
  assert.equal(ada.stored, 0);
});

test("what is refused in two tabs is listed once", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.desk.refuses = ["d100"];
  ada.grade(1);
  const [pending] = ada.state.outbox;
  ada.sync();
  stored(bea, `refused:${pending?.decision.uuid}`);
  const request = { lane: "sync", route: "sync", body: {}, context: { batch: [pending], counted: [], skips: 0 } };
  const answer = { saved: [], refused: ada.state.refused.map(({ uuid }) => ({ uuid, reason: "late" })) };
  bea.tab.dispatch({ type: "answer", request, answer });
  assert.deepEqual(
    bea.state.refused.map(({ uuid }) => uuid),
    [pending?.decision.uuid],
  );
});

test("tabs that are refused at the same moment keep both refusals", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.desk.refuses = ["d100", "d101"];
  ada.grade(1);
  ada.sync();
  bea.grade(2);
  bea.sync();
  assert.deepEqual(
    [ada, bea].map(({ state }) => state.refused.length),
    [2, 2],
  );
  assert.equal(new Annotator(ada.desk, { world: ada.world }).state.refused.length, 2);
});

test("a refusal leaves what is looked back at", () => {
  const ada = open();
  give(ada, 2, 1);
  ada.sync();
  ada.desk.refuses = ["d102"];
  ada.grade(3);
  ada.look(-2);
  ada.sync();
  assert.equal(ada.shown, "d101");
  assert.deepEqual(
    ada.state.refused.map(({ title, decision }) => [title, decision.relevance]),
    [["Title of d102", 3]],
  );
  ada.look(1);
  assert.equal(ada.notice, "forward-to-open");
});

test("what refused revisions were to replace stands", () => {
  const ada = open();
  ada.grade(2);
  ada.sync();
  ada.desk.refuses = ["d100"];
  for (const each of [0, 1]) {
    ada.look(-1);
    ada.grade(each);
  }
  ada.look(-1);
  ada.sync();
  assert.equal(ada.state.refused.length, 2);
  assert.deepEqual([ada.shown, ada.item?.entry?.decision.relevance, ada.item?.entry?.was], ["d100", 2, null]);
  ada.desk.refuses = [];
  ada.grade(3);
  ada.saved("d100: 2", "d100: 3");
  assert.deepEqual(counts(ada), [1, 1]);
});

test("a surplus judgement is said and not counted", () => {
  const ada = open();
  ada.desk.surplus = ["d100"];
  ada.grade(2);
  ada.sync();
  assert.deepEqual([ada.notice, ada.state.notice?.title], ["surplus", "Title of d100"]);
  assert.equal(ada.state.history[0]?.surplus, true);
  ada.grade(1);
  assert.equal(ada.notice, "decided");
  ada.saved("d100: 2", "d101: 1");
});

// -------------------------------------------------------------------------------------------------- marks

test("a note, a flag and passages go with the next grade of its document, whenever that comes", () => {
  let ada = open({ sizes: [4] });
  ada.mark({ note: "half of it", flagged: true, passages: [[0, 4]] });
  ada.skip();
  assert.equal(marks(ada)?.note, null);
  ada.grade(2);
  ada.sync();
  ada = ada.reload();
  give(ada, 0, 0);
  assert.equal(ada.shown, "d100");
  assert.deepEqual(marks(ada), { note: "half of it", flagged: true, passages: [[0, 4]] });
  ada.grade(3);
  ada.saved("d101: 2", "d102: 0", "d103: 0", "d100: 3");
  const last = [...ada.desk.log.values()].at(-1);
  assert.deepEqual([last?.note, last?.flagged, last?.passages], ["half of it", true, [[0, 4]]]);
  assert.deepEqual(ada.state.drafts, {});
});

test("a note survives a reload before and after its grade", () => {
  let ada = open();
  ada.mark({ note: "first" });
  ada = ada.reload();
  assert.equal(marks(ada)?.note, "first");
  ada.desk.status = 500;
  ada.grade(1);
  ada.mark({ note: "second" });
  ada.grade(2);
  ada = ada.reload();
  ada.desk.status = null;
  ada.world.pass(10_000);
  ada.saved("d100: 1", "d101: 2");
  assert.deepEqual(
    [...ada.desk.log.values()].map(({ note }) => note),
    ["first", "second"],
  );
});

test("the note of a judged document is changed with the same grade, and another grade keeps it", () => {
  const ada = open();
  ada.mark({ note: "was so" });
  give(ada, 2, 1);
  ada.look(-2);
  assert.equal(marks(ada)?.note, "was so");
  for (const note of ["is so", "is so"]) ada.mark({ note }); // the second time there is nothing to say
  assert.deepEqual([ada.shown, marks(ada)?.note], ["d100", "is so"]);
  ada.grade(3);
  ada.look(-1);
  ada.mark({ note: null });
  assert.equal(marks(ada)?.note, null);
  ada.saved("d100: 2", "d101: 1", "d100: 2", "d100: 3", "d100: 3");
  assert.deepEqual(
    [...ada.desk.log.values()].map(({ note }) => note),
    ["was so", null, "is so", "is so", null],
  );
});

test("undo keeps the marks for the next grade, also beside words that were begun", () => {
  const ada = open();
  ada.mark({ note: "why" });
  ada.grade(1);
  ada.undo();
  assert.equal(marks(ada)?.note, "why");
  ada.mark({ flagged: true });
  ada.grade(2);
  ada.sync();
  ada.look(-1);
  ada.tab.dispatch({ type: "draft", subject: ada.item?.subject, changes: { note: "half a note" } });
  ada.undo();
  assert.deepEqual(marks(ada), { note: "half a note", flagged: true, passages: [] });
});

test("the marks of a refused judgement are not lost, and never overwrite newer ones", () => {
  const ada = open();
  ada.desk.refuses = ["d100"];
  ada.mark({ note: "old", flagged: true });
  ada.grade(1);
  ada.world.pass(40); // it is on its way
  ada.undo();
  ada.mark({ note: "new" });
  ada.sync();
  assert.equal(ada.shown, "d100");
  assert.deepEqual(marks(ada), { note: "new", flagged: true, passages: [] });
  assert.deepEqual(marks(ada.reload()), { note: "new", flagged: true, passages: [] });
});

test("a late refusal leaves what was judged since alone", () => {
  const ada = open();
  ada.mark({ note: "old" });
  ada.grade(1);
  ada.world.pass(40);
  ada.desk.refuses = ["d100"];
  ada.world.serve(0);
  ada.desk.refuses = [];
  ada.undo();
  ada.mark({ note: "new" });
  ada.grade(2);
  ada.sync();
  ada.look(-1);
  assert.deepEqual([ada.shown, marks(ada)?.note], ["d100", "new"]);
  ada.saved("d100: undone", "d100: 2");
  assert.deepEqual(ada.state.drafts, {});
});

test("a judgement of another topic opens with its note, and is revised there", () => {
  let ada = open({ requested: "t2" });
  ada.mark({ note: "of yesterday" });
  ada.decide({ kind: "cannot judge", reason: "broken" });
  ada.sync();
  ada = ada.reload({ requested: "t1" });
  assert.equal(ada.shown, "d100");
  ada.look(-1);
  assert.equal(marks(ada)?.note, "of yesterday");
  ada.mark({ note: "of today" });
  ada.sync();
  const last = [...ada.desk.log.values()].at(-1);
  assert.deepEqual(
    [last?.query_id, last?.kind, last?.reason, last?.note],
    ["t2", "cannot judge", "broken", "of today"],
  );
  ada.grade(0);
  assert.deepEqual([topic(ada), ada.shown], ["t1", "d100"]);
});

test("a judgement that the card does not know is fetched with its marks", () => {
  const ada = open();
  const old = { uuid: "old", query_id: "t1", doc_id: "d130", kind: "cannot judge", relevance: null, reason: "broken" };
  const more = { note: "long ago", flagged: false, passages: [], shown_at: "", seconds: 1, away: 0 };
  ada.desk.log.set("old", { ...old, ...more, source: "key" });
  const { note: _, ...unknown } = { ...old, uuid: null, note: null };
  ada.tab.dispatch({ type: "open", decision: unknown, title: "Title of d130" });
  assert.equal(ada.notice, "loading");
  ada.sync();
  assert.deepEqual([ada.shown, ada.item?.entry?.decision.reason, marks(ada)?.note], ["d130", "broken", "long ago"]);
});

// ------------------------------------------------------------------------------------------------- topics

test("topics to the end", () => {
  const ada = open({ requested: "t2" });
  give(ada, 0, 1, 2);
  assert.equal(rest(ada), "Topic done: 3 of 3");
  ada.grade(1);
  assert.equal(ada.notice, "nothing-here");
  ada.tab.dispatch({ type: "next-topic" });
  ada.sync();
  assert.deepEqual([topic(ada), ada.shown, counts(ada)], ["t3", "d300", [0, 3]]);
  ada.turnTo("t2");
  ada.sync();
  assert.equal(rest(ada), "Topic done: 3 of 3", "who chooses a topic stays there");
  ada.turnTo("t3");
  ada.sync();
  give(ada, 0, 1, 2);
  ada.tab.dispatch({ type: "next-topic" });
  ada.sync();
  assert.equal(ada.shown, "d100");
  for (let i = 0; i < 41; i += 1) {
    ada.grade(1);
    ada.sync();
  }
  assert.equal(rest(ada), "All documents are judged");
  assert.equal(ada.desk.stands.length, 47);
  assert.equal(ada.log.length, 47);
});

test("calibration topics come next, before the server has named one", () => {
  const desk = new GradeDesk(1, 2, 2);
  desk.calibrates = ["t1", "t3"];
  const ada = new Annotator(desk);
  ada.grade(1);
  ada.tab.dispatch({ type: "next-topic" });
  ada.sync();
  assert.equal(ada.shown, "d300");
  give(ada, 0, 1);
  ada.tab.dispatch({ type: "next-topic" });
  ada.sync();
  assert.equal(ada.shown, "d200");
});

test("where no topic has anything left, what others have judged and closed is counted again", () => {
  const desk = new GradeDesk(1, 2, 2);
  const ada = new Annotator(desk);
  desk.pool.t2 = []; // a rule has closed both
  desk.pool.t3 = [];
  ada.grade(1);
  ada.sync();
  assert.deepEqual([topic(ada), rest(ada)], ["t1", "All documents are judged"]);
});

test("documents that others hold are asked for again", () => {
  const ada = open({ requested: "t2" });
  ada.desk.held = ada.desk.pool.t1 ?? [];
  ada.turnTo("t1");
  ada.sync();
  assert.deepEqual([ada.shown, rest(ada), ada.state.asking], [null, "No free document right now", true]);
  ada.desk.held = [];
  ada.world.pass(10_000);
  ada.sync();
  assert.equal(ada.shown, "d100");
});

test("the card moves on to a topic that has work, and stays where the annotator chose one", () => {
  const desk = new GradeDesk(1, 3, 3);
  desk.held = ["d200", "d201", "d202"];
  desk.movesOn = true;
  desk.pool.t1?.push("d101");
  desk.held.push("d101");
  const ada = new Annotator(desk);
  ada.grade(1);
  ada.sync();
  assert.deepEqual([topic(ada), ada.shown], ["t3", "d300"]);
  assert.deepEqual([ada.notice, ada.state.notice?.done], ["next-topic", undefined]);
  ada.turnTo("t2");
  ada.sync();
  assert.deepEqual([ada.shown, rest(ada)], [null, "No free document in this topic"]);
  ada.tab.dispatch({ type: "next-topic" });
  ada.sync();
  assert.equal(ada.shown, "d300");
});

test("where the loop chooses across topics, a change of topic is no event: only the new one is named", () => {
  const desk = new GradeDesk(2, 2, 2);
  Object.assign(desk, { held: ["d101", "d200", "d201"], movesOn: true, acrossTopics: true });
  const ada = new Annotator(desk);
  ada.grade(1);
  ada.sync();
  assert.deepEqual([topic(ada), ada.shown], ["t3", "d300"]);
  assert.deepEqual([ada.notice, ada.state.notice?.title], ["other-topic", "Topic t3"]);
  ada.turnTo("t2");
  ada.sync();
  assert.deepEqual([ada.shown, rest(ada)], [null, "No selected documents in this topic"]);
  assert.equal(ada.state.scope.acrossTopics, true);
});

test("where no topic has anything free that is said, and each is asked again", () => {
  const desk = new GradeDesk(2, 2, 2);
  Object.assign(desk, { held: ["d101", "d200", "d201", "d300", "d301"], movesOn: true });
  const ada = new Annotator(desk);
  ada.grade(1);
  ada.sync();
  assert.deepEqual([ada.shown, rest(ada)], [null, "No free document right now"]);
  desk.held = ["d101", "d201", "d300", "d301"];
  ada.world.pass(10_000);
  ada.sync();
  assert.equal(ada.shown, "d200");
});

test("qualification comes first, and never under the annotator's hands", () => {
  const ada = open({ sizes: [6, 2, 2] });
  ada.desk.first = "t2";
  ada.grade(1);
  ada.sync();
  assert.equal(ada.shown, "d101", "what is there stays until it is judged");
  while (topic(ada) === "t1") {
    ada.grade(0);
    ada.sync();
  }
  assert.deepEqual([ada.shown, ada.notice], ["d200", "qualification-first"]);
  ada.turnTo("t3");
  ada.sync();
  assert.equal(ada.shown, "d200");
  ada.desk.first = null;
  ada.turnTo("t3");
  ada.sync();
  assert.equal(ada.shown, "d300");
});

test("after qualification the card moves on", () => {
  const desk = new GradeDesk(1, 1, 1);
  Object.assign(desk, { held: ["d100"], first: "t2", movesOn: true, settled: ["d200"] });
  const ada = new Annotator(desk);
  assert.equal(ada.shown, "d200");
  desk.first = null;
  ada.grade(1);
  ada.sync();
  assert.deepEqual([ada.shown, ada.notice, ada.state.notice?.done], ["d300", "next-topic", true]);
});

test("reference grades of fast keys come together, the last ones only", () => {
  const ada = open();
  ada.desk.settled = ["d100", "d101", "d102", "d103", "d104", "d105", "d106"];
  give(ada, 1, 1, 1, 1, 1, 1, 1);
  ada.sync();
  const shown = ada.state.scope.feedback?.map((/** @type {{ doc_id: string }} */ { doc_id }) => doc_id);
  assert.deepEqual(shown, ["d102", "d103", "d104", "d105", "d106"]);
  ada.tab.dispatch({ type: "close-feedback" });
  assert.equal(ada.state.scope.feedback, null);
});

test("coming back to a finished topic goes on with the next", () => {
  let ada = open({ sizes: [1, 2] });
  ada.grade(1);
  ada.sync();
  assert.equal(topic(ada), "t1");
  ada = ada.reload();
  assert.equal(ada.shown, "d200");
});

test("a second device begins where the first one stopped, unless that topic is done or gone", () => {
  const ada = open({ requested: "t3" });
  ada.grade(1);
  ada.sync();
  assert.equal(new Annotator(ada.desk).shown, "d301");
  ada.desk.elsewhere = "gone";
  assert.equal(new Annotator(ada.desk).shown, "d100");
  give(ada, 1, 1);
  ada.sync();
  ada.desk.elsewhere = null;
  assert.equal(new Annotator(ada.desk).shown, "d100");
});

test("of two devices the one that was used last says the topic, and what is asked for wins", () => {
  let ada = open();
  ada.grade(1);
  ada.sync();
  ada.turnTo("t2");
  ada.sync();
  ada = ada.reload();
  assert.equal(ada.shown, "d200", "this browser's own visit is newer than its last judgement");
  const other = new Annotator(ada.desk, { requested: "t3" });
  other.grade(1);
  other.sync();
  ada = ada.reload();
  assert.equal(ada.shown, "d301");
  ada.turnTo("t2");
  ada.sync();
  ada = ada.reload();
  assert.equal(ada.shown, "d200", "nothing is new elsewhere");
  assert.equal(ada.reload({ requested: "t1" }).shown, "d101");
});

test("what was judged elsewhere leaves the screen after a while away, and not before", () => {
  const ada = open();
  const other = new Annotator(ada.desk);
  give(other, 1, 1);
  other.sync();
  ada.tab.dispatch({ type: "beat" });
  ada.sync();
  assert.deepEqual([ada.shown, queue(ada)[1]], ["d100", "d102"]);
  ada.leave();
  assert.deepEqual([ada.shown, ada.notice, ada.state.notice?.title], ["d102", "closed-elsewhere", "Title of d100"]);
});

// ------------------------------------------------------------------------------------------------- search

test("a document that was found comes before the one on screen, and waits for its topic", () => {
  const ada = open();
  take(ada, "d131");
  assert.deepEqual([ada.shown, ada.notice], ["d131", "found-now"]);
  ada.turnTo("t2");
  ada.sync();
  assert.equal(ada.shown, "d200");
  take(ada, "d130", false, "t1");
  ada.turnTo("t1");
  ada.sync();
  assert.deepEqual(queue(ada).slice(0, 2), ["d130", "d131"]);
  give(ada, 2, 3);
  ada.sync();
  assert.equal(ada.shown, "d100");
  ada.undo();
  assert.equal(ada.shown, "d131");
});

test("a document that was found is there when its topic is opened again without a change", () => {
  const ada = open({ sizes: [1] });
  ada.grade(1);
  ada.sync();
  take(ada, "d131");
  ada.tab.dispatch({ type: "unmount" });
  ada.tab.dispatch({ type: "mount", fresh: true, requested: null });
  ada.sync();
  assert.equal(ada.shown, "d131");
});

test("a document that arrives late comes next and not under the keys", () => {
  const ada = open();
  take(ada, "d130", false);
  assert.deepEqual([ada.shown, ada.notice], ["d100", "found-next"]);
  ada.grade(1);
  assert.equal(ada.shown, "d130");
  take(ada, "d130", false);
  assert.equal(ada.notice, "on-screen-already");
});

// --------------------------------------------------------------------------------------------------- loop

const ORDER = ["d100", "d110", "d120", "d130", "d101"];

test("an order replaces what is behind the document on screen", () => {
  const ada = open({ order: ORDER });
  ada.desk.order = ["d140", "d139", "d120", "d138"];
  ada.grade(2);
  assert.equal(ada.shown, "d110", "at once, from the order before");
  ada.sync();
  give(ada, 1);
  assert.equal(ada.shown, "d140");
  ada.grade(0);
  assert.equal(ada.shown, "d139");
  ada.saved("d100: 2", "d110: 1", "d140: 0");
});

test("the card asks again while the model is behind, and stops then", () => {
  const ada = open({ order: ORDER });
  const before = requested(ada).length;
  ada.sync();
  assert.equal(requested(ada).length, before);
  ada.desk.behind = 4;
  ada.grade(1);
  ada.sync();
  assert.equal(requested(ada).length, before + 4);
  ada.desk.order = ["d137", "d136"];
  ada.sync();
  assert.equal(requested(ada).length, before + 4);
  ada.desk.behind = 2;
  ada.grade(1);
  ada.sync();
  assert.deepEqual(queue(ada), ["d120", "d137", "d136"]);
});

test("the first order may take its time", () => {
  const desk = new GradeDesk();
  Object.assign(desk, { order: [], behind: 99 });
  const ada = new Annotator(desk);
  assert.deepEqual([ada.shown, rest(ada), ada.state.exhausted], [null, "Loading …", false]);
  Object.assign(desk, { order: ["d120"], behind: 0 });
  ada.world.pass(2_000);
  ada.sync();
  assert.equal(ada.shown, "d120");
  ada.grade(1);
  ada.sync();
  assert.equal(rest(ada), "No free document right now");
});

test("a budget that is used up is said", () => {
  const desk = new GradeDesk();
  Object.assign(desk, { order: [], budget: "The budget is used up" });
  assert.equal(rest(new Annotator(desk)), "The budget is used up");
});

test("skipped documents come last in the loop", () => {
  const ada = open({ order: ORDER });
  ada.skip();
  assert.equal(ada.shown, "d110");
  ada.sync();
  give(ada, 1, 1, 1, 1);
  ada.sync();
  assert.equal(ada.shown, "d100");
  ada.grade(2);
  ada.sync();
  assert.equal(rest(ada), "No free document right now");
  ada.saved("d110: 1", "d120: 1", "d130: 1", "d101: 1", "d100: 2");
});

test("undone documents stay, whatever the model says", () => {
  const ada = open({ order: ORDER });
  give(ada, 1, 2);
  ada.sync();
  Object.assign(ada.desk, { order: ["d140", "d139"], behind: 1 });
  ada.undo();
  ada.undo();
  ada.sync();
  const seen = [];
  for (let i = 0; i < 4; i += 1) {
    seen.push(ada.shown);
    ada.grade(3);
    ada.sync();
  }
  assert.deepEqual(seen, ["d100", "d110", "d120", "d140"]);
});

test("what was taken stays in front of the loop, and the server is told", () => {
  const ada = open({ order: ORDER });
  for (const id of ["d135", "d136"]) take(ada, id);
  ada.sync();
  assert.deepEqual(requested(ada).at(-1)?.body.holding.slice(0, 3), ["d136", "d135", "d100"]);
  Object.assign(ada.desk, { order: ["d140", "d139"], behind: 1 });
  const seen = [];
  for (let i = 0; i < 4; i += 1) {
    seen.push(ada.shown);
    ada.grade(2);
    ada.sync();
  }
  assert.deepEqual(seen, ["d136", "d135", "d100", "d140"]);
});

test("the loop goes on without a connection", () => {
  const ada = open({ order: ORDER });
  ada.desk.status = 0;
  give(ada, 1, 2, 3, 0);
  ada.sync();
  assert.deepEqual([ada.shown, ada.stored], ["d101", 4]);
  Object.assign(ada.desk, { order: ["d140"], status: null });
  ada.world.pass(10_000);
  ada.sync();
  assert.equal(ada.shown, "d101");
  ada.grade(1);
  assert.equal(ada.shown, "d140");
  ada.saved("d100: 1", "d110: 2", "d120: 3", "d130: 0", "d101: 1");
});

test("a topic in the loop has no end", () => {
  const ada = open({ order: ORDER });
  give(ada, 1, 2, 3, 0, 1);
  ada.sync();
  const open_ = topicOf(ada.state.scope, "t1");
  assert.deepEqual([open_?.judged, open_?.pool, isDone(ada.state, open_)], [5, null, false]);
  ada.tab.dispatch({ type: "next-topic" });
  assert.equal(topic(ada), "t2");
});

// --------------------------------------------------------------------------------------------------- tabs

/** Two tabs of one annotator, which know of each other. @param {GradeDesk} desk */
function twoTabs(desk = new GradeDesk()) {
  const ada = new Annotator(desk);
  const bea = new Annotator(desk, { world: ada.world });
  ada.sync();
  return [ada, bea];
}

/** The storage that tabs share changed: the shell tells those that did not write. @param {Ada} ada @param {string} name */
function stored(ada, name) {
  ada.tab.dispatch({ type: "stored", name, value: ada.world.storage.get(name) ?? null });
}

test("two tabs that take turns on one topic judge each document once", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  for (let turn = 0; turn < 40; turn += 1) {
    const [one, other] = turn % 3 ? [ada, bea] : [bea, ada];
    const { shown } = one;
    one.grade(turn % 4);
    other.sync();
    assert.notEqual(other.shown, shown);
  }
  for (const tab of [ada, bea]) assert.deepEqual([tab.shown, counts(tab)], ["d140", [40, 40]]);
  assert.equal(ada.log.length, 40);
  assert.equal(new Set(ada.desk.stands.map(({ doc_id }) => doc_id)).size, 40);
});

test("what one tab judges can be undone in the other", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.grade(3);
  bea.sync();
  assert.deepEqual([bea.shown, bea.notice, counts(bea)], ["d101", "decided-in-another-tab", [1, 1]]);
  bea.undo();
  assert.deepEqual([bea.shown, bea.item?.unit.before?.relevance], ["d100", 3]);
  bea.grade(1);
  bea.sync();
  ada.look(-1);
  assert.deepEqual([ada.shown, ada.item?.entry?.decision.relevance], ["d100", 1]);
  for (const tab of [ada, bea]) assert.deepEqual(counts(tab), [1, 1]);
  ada.saved("d100: 3", "d100: undone", "d100: 1");
});

test("what is looked back at stays in sight until it is undone", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.grade(3);
  bea.sync();
  bea.look(-1);
  ada.look(-1);
  ada.grade(0);
  bea.sync();
  assert.deepEqual([bea.shown, bea.item?.entry?.decision.relevance], ["d100", 0]);
  ada.look(-1);
  ada.undo();
  bea.sync();
  assert.deepEqual(
    [bea.shown, bea.notice, bea.state.notice?.decision?.kind],
    ["d101", "decided-in-another-tab", "undone"],
  );
  ada.saved("d100: 3", "d100: 0", "d100: undone");
});

test("tabs at different topics count each other's judgements", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  bea.turnTo("t2");
  bea.sync();
  for (const each of [0, 1, 2]) for (const tab of [ada, bea]) tab.grade(each);
  ada.sync();
  bea.sync();
  assert.equal(rest(bea), "Topic done: 3 of 3");
  for (const tab of [ada, bea]) {
    assert.equal(counts(tab)[1], 6);
    const progress = tab.state.scope.topics?.map((/** @type {Topic} */ each) => countOf(tab.state, each).judged);
    assert.deepEqual(progress, [3, 3, 0]);
  }
  const alone = requested(ada)
    .filter(({ body }) => body.query_id === "t2")
    .map(({ body }) => body.alone);
  assert(alone.length && !alone.some(Boolean), "the server is told of the other tab");
});

test("a tab that is closed or dies leaves what it has not sent to the other", () => {
  for (const inOrder of [true, false]) {
    const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
    ada.desk.status = 500;
    give(bea, 0, 1, 2);
    ada.sync();
    assert.deepEqual([ada.shown, ada.state.outbox.length, counts(ada)], ["d103", 0, [3, 3]]);
    ada.world.close(bea.tab, inOrder);
    if (!inOrder) for (let calls = 0; calls < 3; calls += 1) ada.tab.dispatch({ type: "call" });
    for (const tab of ada.world.tabs) while (tab.inbox.length) ada.world.hear(tab);
    assert.deepEqual([ada.state.tabs, ada.state.outbox.length], [{}, 3]);
    ada.grade(3);
    ada.desk.status = null;
    ada.world.pass(10_000);
    ada.saved("d100: 0", "d101: 1", "d102: 2", "d103: 3");
    assert.deepEqual(counts(ada), [4, 4]);
  }
});

test("a tab that was thought dead sends the same again, which the server knows", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.desk.status = 500;
  give(bea, 0, 1);
  ada.sync();
  for (let calls = 0; calls < 3; calls += 1) ada.tab.dispatch({ type: "call" });
  assert.equal(ada.state.outbox.length, 2);
  ada.desk.status = null;
  ada.world.pass(11_000);
  ada.sync();
  bea.saved("d100: 0", "d101: 1");
});

test("a revision never overtakes what another tab has not sent", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.desk.status = 503;
  ada.grade(3);
  bea.sync();
  bea.look(-1);
  bea.grade(0);
  assert.deepEqual(
    bea.state.outbox.map(({ decision }) => decision.relevance),
    [3, 0],
  );
  ada.tab.timers.delete("retry"); // the first tab does not get to it
  ada.desk.status = null;
  bea.world.pass(10_000);
  bea.saved("d100: 3", "d100: 0");
  ada.tab.dispatch({ type: "wake" });
  ada.grade(1);
  ada.sync();
  for (const tab of [ada, bea]) assert.deepEqual(counts(tab), [2, 2]);
  ada.saved("d100: 3", "d100: 0", "d101: 1");
});

for (const [what, decide, last] of /** @type {[string, (bea: Ada) => void, string][]} */ ([
  ["a revision", (bea) => bea.grade(3), "d100: 3"],
  ["an undo", (bea) => bea.undo(), "d100: undone"],
]))
  test(`${what} does not overtake either when the tabs have heard of each other`, () => {
    const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
    ada.desk.status = 503;
    ada.grade(1);
    bea.sync();
    bea.look(-1);
    decide(bea);
    bea.tab.dispatch({ type: "call" });
    for (const { tab } of [ada, bea]) while (tab.inbox.length) bea.world.hear(tab); // what waits in the first tab is said
    const lost = ada.world.requests.findIndex(({ tab }) => tab === ada.tab);
    if (lost >= 0) ada.world.lose("requests", lost, 503);
    ada.tab.timers.delete("retry");
    ada.desk.status = null;
    bea.world.pass(10_000);
    ada.tab.dispatch({ type: "wake" });
    ada.sync();
    ada.saved("d100: 1", last);
  });

test("a new tab leaves to the first what that one is sending", () => {
  const ada = open();
  ada.desk.status = 503;
  give(ada, 1, 2);
  ada.sync();
  const bea = new Annotator(ada.desk, { world: ada.world });
  assert.equal(bea.state.outbox.length, 0);
  ada.desk.status = null;
  ada.world.pass(10_000);
  ada.saved("d100: 1", "d101: 2");
  assert.equal(bea.shown, "d102");
  for (const tab of [ada, bea]) assert.deepEqual(counts(tab), [2, 2]);
});

test("marks that an undo brings back are known in both tabs", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.mark({ note: "mine", flagged: true });
  const draft = [...ada.world.storage.keys()].find((key) => key.startsWith("draft:")) ?? "";
  stored(bea, draft);
  assert.equal(marks(bea)?.note, "mine");
  ada.grade(2);
  ada.sync();
  stored(bea, draft);
  ada.undo();
  ada.sync();
  stored(bea, draft);
  assert.deepEqual(bea.state.history, []);
  ada.world.close(ada.tab, true);
  bea.turnTo("t2");
  bea.turnTo("t1");
  bea.sync();
  assert.deepEqual([bea.shown, marks(bea)], ["d100", { note: "mine", flagged: true, passages: [] }]);
  bea.grade(3);
  bea.saved("d100: 2", "d100: undone", "d100: 3");
  assert.deepEqual(
    [...bea.desk.log.values()].map(({ note }) => note),
    ["mine", null, "mine"],
  );
});

test("what is refused in one tab leaves the other as well", () => {
  const [ada, bea] = /** @type {[Ada, Ada]} */ (twoTabs());
  ada.desk.refuses = ["d100"];
  give(ada, 1, 2);
  ada.sync();
  const name = `refused:${ada.state.refused[0]?.uuid}`;
  stored(bea, name);
  for (const tab of [ada, bea]) {
    assert.equal(tab.state.refused.length, 1);
    assert.deepEqual(counts(tab), [1, 1]);
  }
  bea.look(-1);
  assert.equal(bea.shown, "d101");
  bea.tab.dispatch({ type: "dismiss", refused: bea.state.refused[0]?.uuid });
  stored(ada, name);
  assert.deepEqual(ada.state.refused, []);
});

test("documents that change while the card holds them are replaced, and those looked back at are fetched again", () => {
  const ada = open();
  give(ada, 3);
  ada.sync();
  const titles = () => ada.state.units.slice(0, 2).map((unit) => docOf(unit).title);
  assert.deepEqual(titles(), ["Title of d101", "Title of d102"]);
  ada.desk.version = "Second version";
  ada.mount({ fresh: true }); // the page is shown again
  ada.sync();
  assert.deepEqual(titles(), ["Second version of d101", "Second version of d102"]);
  assert.equal(ada.shown, "d101");
  const asked = ada.desk.requests.length;
  ada.look(-1);
  ada.sync();
  assert.equal(ada.desk.requests[asked]?.route, "document");
  assert.equal(ada.shown, "d100");
});
