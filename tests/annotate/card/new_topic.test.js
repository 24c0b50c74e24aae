// A topic that changes by itself waits for a key; what is held, and what is given back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { adjudication } from "../../../annotate/card/core/kinds/adjudication.js";
import { list } from "../../../annotate/card/core/kinds/list.js";
import { preference } from "../../../annotate/card/core/kinds/preference.js";
import { GradeDesk } from "./grade_desk.js";
import { Annotator, Desk, pairId } from "./helpers.js";

/** @typedef {Annotator<GradeDesk>} Ada */

/** A desk on which the first topic ends after one document, as others hold its second one. @param {object} more */
function ending(more = {}) {
  const desk = new GradeDesk(2, 2, 2);
  return Object.assign(desk, { held: ["d101", "d200", "d201"], movesOn: true, ...more });
}

/** Sentences of three answers, which follow each other. */
function following() {
  const desk = Object.assign(new GradeDesk(), { movesOn: true, goesOn: true });
  desk.pool = { "1.a100.s1": ["d1"], "1.a100.s2": ["d1", "d2"], "1.a200.s1": ["d3"], "1.a300.s1": ["d4"] };
  return desk;
}

/** Presses the key of a grade, where something is on screen and where nothing is. @param {Ada} ada */
const press = (ada) => ada.grade(2);

for (const [code, more] of /** @type {[string, object][]} */ ([
  ["next-topic", {}],
  ["other-topic", { acrossTopics: true }],
])) {
  test(`a fast key never goes to a topic that came by itself (${code})`, () => {
    const ada = new Annotator(ending(more), { reads: false });
    press(ada);
    press(ada);
    ada.sync();
    assert.deepEqual([ada.shown, ada.newTopic, ada.notice], [null, "t3", code]);
    assert.equal(ada.state.scope.why?.code, code);
    press(ada);
    ada.skip();
    assert.deepEqual([ada.newTopic, ada.notice], ["t3", "nothing-here"]);
    ada.saved("d100: 2");
    ada.begin();
    assert.deepEqual([ada.shown, ada.newTopic, ada.notice], ["d300", null, null]);
    press(ada);
    press(ada);
    ada.saved("d100: 2", "d300: 2", "d301: 2");
  });
}

test("the next sentence of an answer is open at once, and that of another answer waits for a key", () => {
  const ada = new Annotator(following(), { reads: false });
  press(ada);
  ada.sync();
  assert.deepEqual([ada.state.scope.topic, ada.shown, ada.newTopic], ["1.a100.s2", "d1", null]);
  press(ada);
  press(ada);
  ada.sync();
  assert.deepEqual([ada.shown, ada.newTopic], [null, "1.a200.s1"]);
  press(ada);
  ada.undo();
  assert.deepEqual([ada.state.scope.topic, ada.shown], ["1.a100.s2", "d2"]);
  ada.turnTo("1.a100.s1");
  ada.sync();
  assert.deepEqual([ada.state.scope.topic, ada.shown], ["1.a100.s1", null], "a topic that was chosen stays");
});

test("sentences that were loaded ahead need no request, and undo goes back and forth among them", () => {
  const ada = new Annotator(following(), { reads: false });
  const { requests } = ada.desk;
  const before = requests.length;
  const at = () => [ada.state.scope.topic, ada.shown];
  press(ada);
  assert.deepEqual(at(), ["1.a100.s2", "d1"]);
  ada.undo();
  assert.deepEqual(at(), ["1.a100.s1", "d1"]);
  press(ada);
  assert.deepEqual(at(), ["1.a100.s2", "d1"], "what was open comes next again");
  press(ada);
  press(ada);
  assert.deepEqual([ada.shown, ada.newTopic], [null, "1.a200.s1"]);
  assert.equal(requests.length, before, "nothing was sent");
  ada.begin();
  press(ada);
  assert.deepEqual(at(), ["1.a200.s1", null], "the end of what was loaded");
  ada.sync();
  assert.deepEqual([at()[0], ada.newTopic], ["1.a300.s1", "1.a300.s1"]);
  ada.saved("d1: 2", "d1: undone", "d1: 2", "d1: 2", "d2: 2", "d3: 2");
});

test("what another tab decides of the next sentence, and what has changed, is not shown from what was loaded", () => {
  const ada = new Annotator(following(), { reads: false });
  const other = ada.world.open();
  ada.world.load();
  ada.world.hear(other);
  other.dispatch({ type: "decide", answer: { kind: "graded", relevance: 1 }, ...other.by() });
  other.dispatch({ type: "decide", answer: { kind: "graded", relevance: 1 }, ...other.by() });
  while (ada.tab.inbox.length) ada.world.hear(ada.tab);
  assert.deepEqual([ada.state.scope.topic, ada.shown], ["1.a100.s2", "d2"]);
  ada.desk.version = "Second version";
  ada.tab.dispatch({ type: "beat" });
  ada.sync();
  assert.equal(ada.state.scope.ahead.length, 2);
});

test("the first document of a new topic is up to date when the topic begins", () => {
  const ada = new Annotator(ending(), { reads: false });
  press(ada);
  press(ada);
  ada.sync();
  ada.desk.version = "Second version";
  ada.begin();
  ada.sync();
  assert.deepEqual([ada.shown, ada.item?.unit.documents[0]?.title], ["d300", "Second version of d300"]);
});

test("a qualification set that comes first waits for a key, too", () => {
  const ada = new Annotator(new GradeDesk(3, 2, 2), { reads: false });
  Object.assign(ada.desk, { first: "t2", held: ["d102"] });
  for (let i = 0; i < 3; i += 1) press(ada);
  ada.sync();
  assert.deepEqual([ada.shown, ada.newTopic, ada.notice], [null, "t2", "qualification-first"]);
});

test("a topic that the annotator asks for is open at once, as are undo and the first topic of a page", () => {
  const ada = new Annotator(ending(), { reads: false });
  assert.equal(ada.shown, "d100");
  press(ada);
  ada.sync();
  assert.equal(ada.newTopic, "t3");
  ada.undo();
  assert.deepEqual([ada.shown, ada.newTopic], ["d100", null]);
  ada.turnTo("t3");
  ada.sync();
  assert.deepEqual([ada.shown, ada.newTopic], ["d300", null]);
  assert.equal(ada.reload({ reads: false }).shown, "d300");
});

test("a new topic is left while it waits, if others have taken what it had", () => {
  const ada = new Annotator(ending(), { reads: false });
  press(ada);
  ada.sync();
  ada.desk.held.push("d300", "d301");
  ada.desk.log.set("other", /** @type {any} */ ({ uuid: "other", query_id: "t3", doc_id: "d300", kind: "graded" }));
  ada.tab.dispatch({ type: "beat" });
  ada.sync();
  assert.deepEqual([ada.state.units.map(({ id }) => id), ada.newTopic], [['["t3","d301"]'], "t3"]);
});

test("lists: each topic that comes by itself waits for a key", () => {
  const ada = new Annotator(new Desk(list, 3, 3), { reads: false });
  ada.choose(1);
  ada.choose(2);
  assert.deepEqual([ada.shown, ada.newTopic], [null, "t1"]);
  ada.tick(1);
  ada.begin();
  assert.deepEqual([ada.shown, ada.ticked], ["t1", []]);
  ada.choose(2);
  ada.saved("t0: 1", "t1: 2");
});

test("preferences: the pairs of a topic follow one another, the next topic waits for a key", () => {
  const ada = new Annotator(new Desk(preference, 2, 3), { reads: false });
  for (const kind of ["left", "left", "left"]) {
    ada.prefer(kind);
    ada.sync();
  }
  assert.deepEqual([ada.shown, ada.newTopic], [null, "t1"]);
  ada.prefer("left");
  assert.equal(ada.log.length, 3);
  ada.begin();
  assert.equal(ada.shown, "t1 d0 d1");
});

test("adjudication: a pair of another topic waits for a key, and one that the page asks for does not", () => {
  const desk = new Desk(adjudication, 1, 1);
  Object.defineProperty(desk, "ids", { value: [pairId("d0"), pairId("d1"), pairId("d0", "t9"), pairId("d1", "t9")] });
  const ada = new Annotator(desk, { reads: false });
  ada.grade(1);
  assert.deepEqual([ada.shown, ada.newTopic], ["d1", null]);
  ada.grade(1);
  ada.grade(1);
  assert.deepEqual([ada.shown, ada.newTopic], [null, "t9"]);
  ada.mount({ fresh: true, requested: pairId("d1", "t9") });
  ada.sync();
  assert.deepEqual([ada.shown, ada.newTopic], ["d1", null]);
});

// -------------------------------------------------------------------------------------- what others take over

test("what another annotator took over before the server knew of the screen leaves it, unless something was written", () => {
  for (const isWritten of [false, true]) {
    const ada = new Annotator(new GradeDesk(4));
    ada.grade(1);
    assert.equal(ada.shown, "d101");
    if (isWritten) ada.mark({ note: "wait" });
    ada.desk.answer = takenOver(ada.desk, "d101");
    ada.sync();
    assert.equal(ada.shown, isWritten ? "d101" : "d102");
    ada.grade(3);
    ada.saved("d100: 1", isWritten ? "d101: 3" : "d102: 3");
  }
});

/** The answers of a desk where another annotator has taken over a document. @param {GradeDesk} desk @param {string} docId */
function takenOver(desk, docId) {
  const { answer } = desk;
  return (/** @type {string} */ route, /** @type {any} */ body) => {
    const answered = /** @type {any} */ (answer.call(desk, route, body));
    return { ...answered, ...(answered.closed && { closed: [...answered.closed, docId] }) };
  };
}

test("with the last document the card asks at once for what others have only loaded", () => {
  const ada = new Annotator(new GradeDesk(4));
  ada.desk.held = ["d102", "d103"];
  const late = new Annotator(ada.desk);
  late.grade(1);
  ada.desk.held = ["d103"];
  late.grade(1);
  late.sync();
  assert.equal(late.shown, "d102", "without a pause of ten seconds");
});

// -------------------------------------------------------------------------------------------- leaving the page

/** The last requests of a desk, in short. @param {Annotator<any>} ada @param {number} from */
const leaving = (ada, from) =>
  ada.desk.requests
    .slice(from)
    .map((/** @type {{ body: any }} */ { body }) => [
      body.leave === true,
      body.decisions?.length ?? 0,
      body.holding?.length ?? 0,
    ]);

for (const [name, desk] of /** @type {[string, () => any][]} */ ([
  ["grades", () => new GradeDesk(4)],
  ["lists", () => new Desk(list, 3, 3)],
  ["preferences", () => new Desk(preference, 2, 3)],
  ["adjudication", () => new Desk(adjudication, 1, 3)],
])) {
  test(`${name}: a page that is left gives back what it holds, a rerun does not`, () => {
    const ada = new Annotator(desk());
    const before = ada.desk.requests.length;
    ada.tab.dispatch({ type: "unmount" });
    ada.mount();
    ada.sync();
    assert.deepEqual(leaving(ada, before), [], "a rerun of the page");
    ada.tab.dispatch({ type: "unmount" });
    ada.sync();
    assert.equal(leaving(ada, before).at(-1)?.[0], true, "another page");
    const after = ada.desk.requests.length;
    ada.mount();
    ada.sync();
    assert.deepEqual([ada.desk.requests.length > after, leaving(ada, after)[0]?.[0]], [true, false], "back again");
    const shown = ada.shown;
    ada.tab.dispatch({ type: "leave" });
    ada.sync();
    assert.equal(leaving(ada, after).at(-1)?.[0], true, "closed");
    assert.equal(ada.shown, shown);
  });
}

test("a tab that is closed beside another one leaves the documents to that", () => {
  const ada = new Annotator(new GradeDesk(4));
  const bea = new Annotator(ada.desk, { world: ada.world });
  bea.sync();
  const before = ada.desk.requests.length;
  bea.tab.dispatch({ type: "leave" });
  ada.sync();
  assert.equal(leaving(ada, before).filter((/** @type {any[]} */ [leave]) => leave).length, 0);
});

test("a page that is left with more decisions than one request can carry does not give back what it holds", () => {
  const ada = new Annotator(new GradeDesk(450));
  ada.desk.status = 503;
  for (let i = 0; i < 30; i += 1) {
    ada.tab.dispatch({ type: "decide", answer: { kind: "graded", relevance: 1 }, ...ada.tab.by() });
    ada.tab.dispatch({ type: "undo", ...ada.tab.by() });
  }
  assert.equal(ada.stored, 60);
  const before = ada.desk.requests.length;
  ada.desk.status = null;
  ada.tab.dispatch({ type: "leave" });
  ada.sync();
  assert.deepEqual(leaving(ada, before)[0]?.slice(0, 2), [false, 50]);
});

test("many judgements of a long time offline are sent in parts, in their order", () => {
  const ada = new Annotator(new GradeDesk(450));
  ada.desk.status = 503;
  const { tab } = ada;
  for (let i = 0; i < 24; i += 1) ada.grade(i % 4);
  for (let i = 0; i < 400; i += 1)
    tab.dispatch({ type: i % 2 ? "decide" : "undo", answer: { kind: "graded", relevance: 1 }, ...tab.by() });
  const made = [...ada.world.made.keys()];
  ada.desk.status = null;
  for (let i = 0; i < 12; i += 1) {
    ada.world.pass(10_000);
    ada.sync();
  }
  assert.equal(ada.stored, 0);
  assert.deepEqual([...ada.desk.log.keys()], made);
  const sizes = ada.desk.requests.map(({ body }) => body.decisions?.length ?? 0);
  assert.equal(Math.max(...sizes), 50);
});
