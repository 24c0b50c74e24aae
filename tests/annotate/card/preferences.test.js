// Preferences: how plans are followed and renewed. What they share with lists is tested there.

import assert from "node:assert/strict";
import { test } from "node:test";
import { preference } from "../../../annotate/card/core/kinds/preference.js";
import { Annotator, Desk } from "./helpers.js";

const desk = (topics = 4, documents = 3) => new Desk(preference, topics, documents);

/** Decides while the topic on screen is this. @param {Annotator} ada @param {string} topic */
function finish(ada, topic) {
  while (ada.item?.unit.queryId === topic) {
    ada.prefer("left");
    ada.sync();
  }
}

test("a plan is followed without the server, as deep as it goes", () => {
  const one = desk();
  one.depth = 9;
  const ada = new Annotator(one);
  const seen = [];
  for (let i = 0; i < 4; i += 1) {
    seen.push(ada.shown);
    ada.prefer("left");
  }
  assert.deepEqual(seen, ["t0 d0 d1", "t0 d0 d2", "t0 d1 d2", "t1 d0 d1"]);
  assert.equal(ada.done, 1);
  ada.saved("t0 d0 d1: left", "t0 d0 d2: left", "t0 d1 d2: left", "t1 d0 d1: left");
});

test("where the plan ends nothing is on screen until the server has made it anew", () => {
  const ada = new Annotator(desk());
  ada.prefer("left");
  ada.prefer("right");
  assert.equal(ada.shown, null);
  ada.prefer("left");
  assert.equal(ada.notice, "nothing-here");
  ada.sync();
  assert.equal(ada.shown, "t0 d1 d2");
  ada.saved("t0 d0 d1: left", "t0 d0 d2: right");
});

test("a plan that comes late is gone through as far as the annotator is", () => {
  const one = desk(2, 4);
  const ada = new Annotator(one);
  ada.prefer("left");
  ada.world.pass(40); // the first decision is on its way
  ada.prefer("equal");
  assert.equal(ada.shown, null);
  ada.world.serve(0);
  ada.world.answer(0);
  assert.equal(ada.shown, "t0 d0 d3", "the answer to the first decision is planned as deep as this");
  assert.deepEqual([ada.item?.unit.done, ada.item?.unit.expected], [2, 6]);
});

test("the end of a topic is said, whether the card knows it or the server says it", () => {
  for (const depth of [0, 9]) {
    const one = desk(2);
    one.depth = depth;
    const ada = new Annotator(one);
    for (let i = 0; i < 2; i += 1) {
      ada.prefer("left");
      ada.sync();
      assert.equal(ada.state.notice?.done ?? false, false);
    }
    ada.prefer("equal");
    ada.sync();
    assert.deepEqual([ada.notice, ada.state.notice?.done, ada.shown], ["decided", true, "t1 d0 d1"]);
    ada.undo();
    assert.deepEqual([ada.notice, ada.shown], ["undone", "t0 d1 d2"]);
  }
});

test("undo goes back through pairs and topics", () => {
  const one = desk(4, 2);
  const ada = new Annotator(one);
  ada.prefer("left");
  ada.prefer("equal");
  assert.deepEqual([ada.shown, ada.done], ["t2 d0 d1", 2]);
  ada.undo();
  assert.equal(ada.shown, "t1 d0 d1");
  assert.equal(ada.item?.unit.before?.kind, "equal");
  ada.undo();
  assert.deepEqual([ada.shown, ada.done], ["t0 d0 d1", 0]);
  ada.prefer("right");
  ada.prefer("right");
  assert.equal(ada.shown, "t2 d0 d1");
  const undone = ["t1 d0 d1: undone", "t0 d0 d1: undone"];
  ada.saved("t0 d0 d1: left", "t1 d0 d1: equal", ...undone, "t0 d0 d1: right", "t1 d0 d1: right");
});

test("undo within a topic leads another way", () => {
  const ada = new Annotator(desk());
  ada.prefer("left");
  ada.prefer("left");
  ada.undo();
  assert.equal(ada.shown, "t0 d0 d2");
  assert.equal(ada.item?.unit.done, 1);
  ada.undo();
  assert.equal(ada.shown, "t0 d0 d1");
  ada.prefer("right");
  assert.equal(ada.shown, "t0 d0 d2");
  ada.prefer("equal");
  ada.sync();
  finish(ada, "t0");
  assert.deepEqual(ada.desk.left("t0"), []);
  assert.equal(ada.done, 1);
});

test("a revision keeps the pair on screen, and what comes next is planned anew", () => {
  const one = desk();
  one.depth = 9;
  const ada = new Annotator(one);
  ada.prefer("left");
  ada.sync();
  ada.look(-1);
  assert.equal(ada.shown, "t0 d0 d1");
  ada.prefer("equal");
  assert.equal(ada.state.notice?.revised, true);
  assert.equal(ada.shown, "t0 d0 d2");
  ada.prefer("right");
  assert.equal(ada.shown, null, "the former plan holds no more");
  ada.sync();
  assert.equal(ada.shown, "t0 d1 d2");
  ada.saved("t0 d0 d1: left", "t0 d0 d1: equal", "t0 d0 d2: right");
});

test("a revision of a topic that is done may open it again", () => {
  const one = desk(2, 2);
  const ada = new Annotator(one);
  ada.prefer("left");
  ada.sync();
  ada.look(-1);
  ada.prefer("right");
  assert.equal(ada.state.exhausted, false);
  assert.equal(ada.shown, "t1 d0 d1");
  ada.saved("t0 d0 d1: left", "t0 d0 d1: right");
});

test("a pair on screen stays when the server plans another", () => {
  const ada = new Annotator(desk());
  const shown = ada.shown;
  ada.desk.documents.reverse();
  ada.tab.dispatch({ type: "beat" });
  ada.sync();
  assert.equal(ada.shown, shown);
  ada.prefer("left");
  ada.sync();
  assert.equal(ada.shown, "t0 d2 d1");
});

test("a pair that the server has turned round is about the same two", () => {
  assert.equal(
    preference.subject({ query_id: "t0", left: "d0", right: "d1" }),
    preference.subject({ query_id: "t0", left: "d1", right: "d0" }),
  );
  const ada = new Annotator(desk());
  const unit = ada.item?.unit;
  assert(unit?.next);
  const turned = { kind: "right", left: "d1", right: "d0", query_id: "t0", uuid: "u" };
  const plain = { kind: "left", left: "d0", right: "d1", query_id: "t0", uuid: "u" };
  assert.deepEqual(preference.after?.(unit, turned), preference.after?.(unit, plain));
});

test("after a reload earlier decisions are fetched, to be looked at and undone", () => {
  let ada = new Annotator(desk());
  ada.prefer("left");
  ada.prefer("right");
  ada.sync();
  ada = ada.reload();
  assert.equal(ada.shown, "t0 d1 d2");
  ada.look(-1);
  ada.sync();
  assert.equal(ada.shown, "t0 d0 d2");
  assert.equal(ada.item?.entry?.decision.kind, "right");
  ada.look(1);
  ada.undo();
  ada.sync();
  assert.equal(ada.shown, "t0 d0 d2");
  ada.prefer("equal");
  ada.sync();
  assert.equal(ada.shown, "t0 d1 d2");
  ada.saved("t0 d0 d1: left", "t0 d0 d2: right", "t0 d0 d2: undone", "t0 d0 d2: equal");
});

test("a topic may be skipped at any pair, and a note goes with a pair", () => {
  const ada = new Annotator(desk());
  ada.decide({ kind: "cannot judge", reason: "broken" });
  ada.mark({ note: "close" });
  ada.prefer("left");
  ada.sync();
  ada.skip();
  assert.equal(ada.shown, "t1 d0 d1");
  ada.look(-1);
  assert.equal(ada.shown, "t0 d0 d2");
  ada.saved("t0 d0 d1: cannot judge", "t0 d0 d2: left");
  assert.deepEqual(
    [...ada.desk.log.values()].map(({ note, reason }) => [note, reason]),
    [
      [null, "broken"],
      ["close", null],
    ],
  );
});

test("without a connection topics with a plan come before those without", () => {
  const ada = new Annotator(desk());
  ada.desk.status = 0;
  const topics = new Set();
  for (let i = 0; i < 20; i += 1) {
    if (ada.item) topics.add(ada.item.unit.queryId);
    ada.prefer(i % 2 ? "left" : "right");
    ada.sync();
  }
  assert.deepEqual([...topics], ["t0", "t1", "t2", "t3"]);
  assert.equal(ada.stored, 8, "two answers deep, of each");
  assert.equal(ada.shown, null);
  ada.desk.status = null;
  ada.world.pass(10_000);
  ada.sync();
  assert.equal(ada.log.length, 8);
  assert.equal(new Set(ada.desk.stands.map(preference.subject)).size, 8);
  assert.notEqual(ada.shown, null);
});

test("a plan that the server does not send is asked for again", () => {
  const ada = new Annotator(desk());
  ada.prefer("left");
  ada.prefer("left");
  ada.sync();
  ada.tab.dispatch({ type: "whole", doc: { .../** @type {any} */ (ada.item?.unit.documents[0]), text: "all" } });
  assert.equal(ada.item?.unit.documents[0]?.text, "all");
  const { plan } = ada.desk;
  ada.prefer("left");
  ada.desk.plan = (id) => ({ ...plan.call(ada.desk, id), next: /** @type {any} */ (undefined) });
  ada.sync();
  ada.desk.plan = plan;
  ada.world.pass(10_000);
  ada.sync();
  assert.equal(ada.shown, "t1 d0 d1");
});

test("two tabs of one annotator go the same way", () => {
  const ada = new Annotator(desk());
  const bea = new Annotator(ada.desk, { world: ada.world });
  for (let turn = 0; turn < 6; turn += 1) {
    const [tab, other] = turn % 2 ? [ada, bea] : [bea, ada];
    assert.equal(tab.shown, other.shown);
    const before = tab.shown;
    tab.prefer("left");
    other.sync();
    assert.notEqual(tab.shown, before);
    assert.equal(tab.shown, other.shown);
    assert.equal(tab.done, other.done);
  }
  assert.equal(ada.shown, "t2 d0 d1");
  assert.equal(ada.log.length, 6);
});

test("a topic that the page asks for: open it goes on, done its last decision is looked at", () => {
  const one = desk(6, 2);
  let ada = new Annotator(one, { requested: "t5" });
  assert.equal(ada.shown, "t5 d0 d1");
  ada.prefer("left");
  ada.sync();
  ada = ada.reload({ requested: "t5" });
  assert.deepEqual([ada.shown, ada.notice], ["t5 d0 d1", "looking-back"]);
  assert.equal(ada.item?.entry?.decision.kind, "left");
});
