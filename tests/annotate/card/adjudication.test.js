// Adjudication: pairs, their filter, and the one that a manager picks. What they share with lists is tested there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { adjudication } from "../../../annotate/card/core/kinds/adjudication.js";
import { Annotator, Desk, pairId } from "./helpers.js";

const desk = (documents = 6) => new Desk(adjudication, 1, documents);

test("each grade goes to the pair that was on screen", () => {
  const ada = new Annotator(desk());
  for (const grade of [0, 1, 2, 3]) ada.grade(grade);
  assert.deepEqual([ada.shown, ada.done], ["d4", 4]);
  ada.saved("d0: 0", "d1: 1", "d2: 2", "d3: 3");
});

/** One disagreement on each of three answers. */
class Answers extends Desk {
  get ids() {
    return ["1.a100", "1.a200", "2.a100"].map((queryId) => pairId("d0", queryId));
  }
}

for (const follows of [true, false]) {
  const way = follows ? "follow each other" : "of documents wait for a key";
  test(`pairs of other topics ${way}`, () => {
    const ada = new Annotator(new Answers(adjudication, 1, 1), { reads: false });
    ada.mount({ fresh: true, follows });
    ada.sync();
    for (const grade of [1, 2, 0]) ada.grade(grade);
    assert.equal(ada.done, follows ? 3 : 1);
    assert.equal(ada.newTopic, follows ? null : "1.a200");
    ada.saved(...["d0: 1", "d0: 2", "d0: 0"].slice(0, ada.done));
  });
}

test("undo, and a revision of an earlier pair", () => {
  const ada = new Annotator(desk());
  ada.grade(1);
  ada.grade(2);
  ada.undo();
  assert.equal(ada.shown, "d1");
  assert.equal(ada.item?.unit.before?.relevance, 2);
  ada.grade(3);
  ada.look(-1);
  assert.equal(ada.shown, "d1");
  ada.grade(0);
  assert.equal(ada.shown, "d2");
  assert.equal(ada.done, 2);
  ada.saved("d0: 1", "d1: 2", "d1: undone", "d1: 3", "d1: 0");
});

test("after a reload what was adjudicated can be undone", () => {
  let ada = new Annotator(desk());
  ada.grade(1);
  ada.grade(2);
  ada.sync();
  ada = ada.reload();
  for (const shown of ["d1", "d0"]) {
    ada.undo();
    ada.sync();
    assert.equal(ada.shown, shown);
  }
  assert.equal(ada.done, 0);
  assert.deepEqual(ada.desk.stands, []);
});

test("a pair that another manager has adjudicated is told, and the next is there", () => {
  const ada = new Annotator(desk());
  ada.desk.refuses = [pairId("d0")];
  ada.desk.ended = [pairId("d0")];
  ada.grade(3);
  ada.sync();
  assert.deepEqual(
    ada.state.refused.map(({ title }) => title),
    ["Title of d0"],
  );
  assert.equal(ada.shown, "d1");
  ada.grade(2);
  ada.saved("d1: 2");
  assert.equal(ada.done, 2);
});

test("a new filter discards the held pairs, and what was asked for with the former one", () => {
  const ada = new Annotator(desk());
  ada.grade(1);
  ada.world.pass(40); // the request with the former filter is on its way
  ada.mount({ filter: { only: [pairId("d4"), pairId("d5")] } });
  assert.equal(ada.shown, null);
  ada.world.serve(0);
  ada.world.answer(0);
  assert.deepEqual(ada.state.units, []);
  ada.sync();
  assert.deepEqual([ada.shown, ada.done], ["d4", 0]);
  ada.mount({ filter: { only: [pairId("d4"), pairId("d5")] } });
  assert.equal(ada.shown, "d4", "the same filter changes nothing");
  ada.grade(2);
  ada.mount({ filter: {} });
  ada.sync();
  assert.equal(ada.shown, "d1");
  ada.saved("d0: 1", "d4: 2");
});

test("what is revised while its pair is fetched is newer than the answer", () => {
  const ada = new Annotator(desk());
  ada.grade(1);
  ada.sync();
  ada.mount({ requested: pairId("d0") });
  ada.world.serve(0); // the answer has the first grade
  ada.look(-1);
  ada.grade(3);
  ada.world.answer(0);
  assert.equal(ada.item?.entry?.decision.relevance, 3);
  ada.mark({ note: "n" });
  ada.saved("d0: 1", "d0: 3", "d0: 3");
});

test("a pair that is picked comes next, from what is held or from the server", () => {
  const one = desk(60);
  const ada = new Annotator(one);
  ada.grade(1);
  ada.look(-1);
  ada.mount({ requested: pairId("d3") });
  assert.equal(ada.shown, "d3");
  ada.mount({ requested: pairId("d55") });
  assert.equal(ada.shown, null);
  ada.sync();
  assert.equal(ada.shown, "d55");
  ada.grade(2);
  assert.equal(ada.shown, "d3");
  ada.mount();
  assert.equal(ada.shown, "d3");
  ada.saved("d0: 1", "d55: 2");
});

test("a picked pair that is adjudicated is looked back at", () => {
  const ada = new Annotator(desk());
  ada.grade(1);
  ada.grade(2);
  ada.sync();
  ada.mount({ requested: pairId("d0") });
  ada.sync();
  assert.deepEqual([ada.shown, ada.item?.entry?.decision.relevance], ["d0", 1]);
  ada.grade(3);
  assert.equal(ada.shown, "d2");
  ada.saved("d0: 1", "d1: 2", "d0: 3");
});

test("new pairs are found by the heartbeat after all was done", () => {
  const ada = new Annotator(desk(1));
  ada.grade(1);
  ada.sync();
  assert.deepEqual([ada.shown, ada.state.asking], [null, false]);
  ada.desk.documents.push("d9");
  ada.tab.dispatch({ type: "beat" });
  ada.sync();
  assert.deepEqual([ada.shown, ada.state.asking], [null, true]);
  ada.world.pass(10_000);
  ada.sync();
  assert.equal(ada.shown, "d9");
});

test("while the page is not shown nothing is fetched, and decisions are sent", () => {
  const ada = new Annotator(desk(60));
  ada.tab.dispatch({ type: "unmount" });
  const requested = ada.desk.requests.length;
  ada.tab.dispatch({ type: "beat" });
  ada.sync();
  const later = ada.desk.requests.slice(requested).map(({ body }) => [body.leave, body.want, body.decisions.length]);
  assert.deepEqual(later, [[true, 0, 0]], "only what is held is given back");
  ada.grade(1);
  ada.sync();
  assert.equal(ada.desk.requests.at(-1)?.body.want, 0);
  ada.saved("d0: 1");
});

test("a document that changes while it is on screen is replaced", () => {
  const ada = new Annotator(desk());
  ada.desk.version = "Second version";
  ada.grade(1);
  ada.sync();
  assert.deepEqual([ada.shown, ada.item?.unit.documents[0]?.title], ["d1", "Second version of d1"]);
});
