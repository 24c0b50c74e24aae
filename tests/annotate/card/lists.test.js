// Lists: what keys do, what goes to the server, and what happens without it. Preferences and adjudication share most of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { list } from "../../../annotate/card/core/kinds/list.js";
import { Annotator, Desk } from "./helpers.js";

const desk = (topics = 8) => new Desk(list, topics, 5);

test("a list goes with its documents, and the next one is there at once", () => {
  const ada = new Annotator(desk());
  ada.choose(1, 3);
  assert.equal(ada.shown, "t1");
  assert.equal(ada.notice, "decided");
  ada.choose();
  assert.equal(ada.shown, "t2");
  assert.equal(ada.done, 2);
  ada.saved("t0: 1 3", "t1: none");
  const [first] = ada.desk.log.values();
  assert.deepEqual(first?.shown, ["d0", "d1", "d2", "d3", "d4"]);
  assert.equal(ada.done, 2);
});

test("documents that are selected wait for the decision, and for a reload", () => {
  let ada = new Annotator(desk());
  ada.tick(2);
  ada.tick(4);
  ada.tick(2);
  assert.deepEqual(ada.ticked, [4]);
  ada = ada.reload();
  assert.equal(ada.shown, "t0");
  assert.deepEqual(ada.ticked, [4]);
  ada.choose(4);
  assert.deepEqual(ada.ticked, []);
  ada.saved("t0: 4");
  assert(![...ada.world.storage.keys()].some((key) => key.startsWith("draft:")));
});

test("a key that was meant for another list decides nothing", () => {
  const ada = new Annotator(desk());
  ada.decide({ kind: "chosen", chosen: [] }, "t9");
  assert.equal(ada.notice, "just-changed");
  assert.equal(ada.shown, "t0");
  assert.equal(ada.stored, 0);
});

test("where nothing is on screen nothing is decided", () => {
  const ada = new Annotator(desk(1));
  ada.choose();
  for (const key of [() => ada.choose(1), () => ada.skip(), () => ada.tick(1)]) {
    key();
    assert.equal(ada.notice, "nothing-here");
  }
  ada.saved("t0: none");
});

test("undo brings lists back with what was selected", () => {
  const ada = new Annotator(desk());
  ada.choose(2, 4);
  ada.choose();
  ada.undo();
  assert.equal(ada.shown, "t1");
  assert.deepEqual(ada.item?.unit.before?.chosen, []);
  ada.undo();
  assert.equal(ada.shown, "t0");
  assert.deepEqual(ada.ticked, [2, 4]);
  assert.equal(ada.done, 0);
  ada.undo();
  assert.equal(ada.notice, "nothing-to-undo");
  ada.choose(2);
  assert.equal(ada.shown, "t1");
  ada.saved("t0: 2 4", "t1: none", "t1: undone", "t0: undone", "t0: 2");
});

test("looking back and deciding anew; what was not submitted is forgotten", () => {
  const ada = new Annotator(desk());
  ada.choose(2);
  ada.choose();
  ada.look(-1);
  ada.look(-1);
  assert.equal(ada.shown, "t0");
  ada.tick(3);
  assert.deepEqual(ada.ticked, [2, 3]);
  ada.look(2);
  assert.equal(ada.shown, "t2");
  assert.equal(ada.notice, "forward-to-open");
  ada.look(-2);
  ada.look(-1);
  assert.equal(ada.notice, "no-earlier");
  assert.deepEqual(ada.ticked, [2]);
  ada.choose(2, 4);
  assert.equal(ada.state.notice?.revised, true);
  assert.equal(ada.shown, "t2");
  ada.look(-1);
  assert.equal(ada.shown, "t0", "the last decision comes first");
  ada.choose();
  ada.saved("t0: 2", "t1: none", "t0: 2 4", "t0: none");
  assert.equal(ada.done, 2);
});

test("after a reload earlier decisions are fetched, to be looked at and undone", () => {
  let ada = new Annotator(desk());
  ada.choose(2);
  ada.choose(1, 3);
  ada.sync();
  ada = ada.reload();
  assert.equal(ada.shown, "t2");
  ada.look(-1);
  assert.equal(ada.notice, "loading");
  assert.equal(ada.shown, "t2");
  ada.sync();
  assert.equal(ada.shown, "t1");
  assert.deepEqual(ada.ticked, [1, 3]);
  ada.look(1);
  ada.undo();
  assert.equal(ada.shown, "t1");
  assert.equal(ada.done, 1);
  ada.saved("t0: 2", "t1: 1 3", "t1: undone");
});

test("an undo whose list comes late undoes nothing", () => {
  let ada = new Annotator(desk());
  ada.choose(1);
  ada.sync();
  ada = ada.reload();
  ada.undo();
  ada.choose(2);
  ada.sync();
  assert.equal(ada.shown, "t2");
  assert.equal(ada.notice, "decided");
  ada.saved("t0: 1", "t1: 2");
});

test("a list that cannot be fetched is said", () => {
  let ada = new Annotator(desk());
  ada.choose(1);
  ada.sync();
  ada = ada.reload();
  ada.look(-1);
  ada.desk.status = 500;
  ada.sync();
  assert.equal(ada.notice, "cannot-load");
  assert.equal(ada.shown, "t1");
});

test("skipped lists come after the others, after a reload too", () => {
  let ada = new Annotator(desk(4));
  ada.skip();
  assert.equal(ada.notice, "skipped");
  assert.equal(ada.shown, "t1");
  ada.choose();
  ada = ada.reload();
  assert.equal(ada.shown, "t2");
  ada.choose();
  ada.choose();
  assert.equal(ada.shown, "t0");
  ada.skip();
  assert.equal(ada.notice, "only-one");
  ada.choose(1);
  assert.equal(ada.shown, null);
  ada.saved("t1: none", "t2: none", "t3: none", "t0: 1");
});

test("a decision is not skipped", () => {
  const ada = new Annotator(desk());
  ada.choose();
  ada.look(-1);
  ada.skip();
  assert.equal(ada.notice, "already-decided");
  assert.equal(ada.shown, "t0");
});

test("a list that cannot be judged has a reason and nothing selected", () => {
  const ada = new Annotator(desk());
  ada.tick(1);
  ada.decide({ kind: "cannot judge", reason: "broken" });
  ada.saved("t0: cannot judge");
  const [decision] = ada.desk.log.values();
  assert.deepEqual([decision?.reason, decision?.chosen], ["broken", []]);
});

test("a note waits for the decision; at an earlier one it is saved at once, which stays on screen", () => {
  const ada = new Annotator(desk());
  ada.mark({ note: "cut off" });
  ada.choose(1);
  ada.look(-1);
  ada.tick(2);
  ada.mark({ note: "all fine" });
  assert.equal(ada.shown, "t0");
  assert.deepEqual(ada.ticked, [1, 2], "what is selected and not submitted stays");
  ada.choose(1, 2);
  assert.equal(ada.shown, "t1");
  ada.saved("t0: 1", "t0: 1", "t0: 1 2");
  assert.deepEqual(
    [...ada.desk.log.values()].map(({ note }) => note),
    ["cut off", "all fine", "all fine"],
  );
});

test("without a connection it goes on, and a reload sends what waits", () => {
  let ada = new Annotator(desk());
  ada.desk.status = 0;
  ada.choose(1);
  ada.choose();
  ada.choose(2);
  ada.sync();
  assert.equal(ada.shown, "t3");
  assert.equal(ada.stored, 3);
  assert.deepEqual(ada.log, []);
  assert.equal(ada.state.sync.trouble, 0);
  ada.desk.status = null;
  ada = ada.reload();
  assert.equal(ada.shown, "t3");
  ada.saved("t0: 1", "t1: none", "t2: 2");
});

test("an answer that is lost doubles nothing", () => {
  const ada = new Annotator(desk());
  Object.assign(ada.desk, { status: 0, isAfter: true });
  ada.choose(1);
  ada.sync();
  assert.equal(ada.stored, 1);
  assert(ada.desk.requests.filter(({ body }) => body.decisions?.length).length > 1, "it is sent again");
  ada.desk.status = null;
  ada.world.pass(10_000);
  ada.saved("t0: 1");
  assert.equal(ada.done, 1);
});

test("what is refused is kept in sight, its note is not lost, and the list is open again", () => {
  const ada = new Annotator(desk(2));
  ada.desk.refuses = ["t0"];
  ada.mark({ note: "why" });
  ada.choose(1);
  ada.choose();
  ada.sync();
  assert.deepEqual(
    ada.state.refused.map(({ title, reason }) => [title, reason]),
    [["Topic t0", "refused here"]],
  );
  assert.equal(ada.done, 1);
  assert.equal(ada.shown, "t0");
  ada.tab.dispatch({ type: "dismiss", refused: ada.state.refused[0]?.uuid ?? "" });
  assert.deepEqual(ada.state.refused, []);
  ada.desk.refuses = [];
  ada.choose(2);
  ada.saved("t1: none", "t0: 2");
  assert.equal([...ada.desk.log.values()].at(-1)?.note, "why");
});

test("a refusal leaves what is looked back at, and brings back what was before", () => {
  const ada = new Annotator(desk());
  ada.choose(1);
  ada.choose(2);
  ada.sync();
  ada.desk.refuses = ["t2", "t0"];
  ada.choose(1);
  ada.look(-2);
  assert.equal(ada.shown, "t1");
  ada.sync();
  assert.equal(ada.shown, "t1");
  ada.look(-1);
  ada.choose(3);
  ada.look(-1);
  assert.deepEqual([ada.shown, ada.ticked], ["t0", [3]]);
  ada.sync();
  assert.deepEqual([ada.shown, ada.ticked], ["t0", [1]]);
  ada.saved("t0: 1", "t1: 2");
});

test("two tabs of one annotator do not decide the same list", () => {
  const ada = new Annotator(desk());
  const bea = new Annotator(ada.desk, { world: ada.world });
  ada.choose(1);
  bea.sync();
  assert.equal(bea.shown, "t1");
  assert.equal(bea.notice, "decided-in-another-tab");
  bea.skip();
  bea.sync();
  ada.read();
  assert.equal(ada.shown, "t2");
  assert.equal(ada.notice, "skipped-in-another-tab");
  bea.undo();
  ada.sync();
  assert.deepEqual([ada.done, bea.done, bea.shown], [0, 0, "t0"]);
  bea.choose(2);
  ada.choose();
  ada.sync();
  assert.deepEqual([ada.done, bea.done], [2, 2]);
  ada.sync();
  assert.deepEqual(ada.log.sort(), ["t0: 1", "t0: 2", "t0: undone", "t2: none"]);
});

test("what another tab undoes while older decisions are on their way is not decided here", () => {
  const ada = new Annotator(desk());
  ada.choose(1);
  ada.sync();
  const { world } = ada;
  const other = world.open();
  while (world.requests[0]?.request.route !== "list/recent") {
    world.serve(0);
    world.answer(0);
  }
  while (other.inbox.length) world.hear(other);
  while (ada.tab.inbox.length) world.hear(ada.tab);
  world.serve(0);
  ada.undo();
  while (other.inbox.length) world.hear(other);
  world.answer(0);
  assert.deepEqual(other.state.history, []);
});

test("of two that are fetched the one that comes is shown, whatever becomes of the other", () => {
  let ada = new Annotator(desk());
  ada.choose(1);
  ada.choose(2);
  ada = ada.reload();
  const [first, second] = ada.state.history;
  assert(first && second);
  ada.tab.dispatch({ type: "open", decision: first.decision, title: "" });
  ada.tab.dispatch({ type: "open", decision: second.decision, title: "" });
  ada.world.lose("requests", 0, 0);
  ada.sync();
  assert.equal(ada.shown, "t1");
});

test("a unit that others hold is asked for until it is free", () => {
  const one = desk(2);
  one.held = ["t1"];
  const ada = new Annotator(one);
  ada.choose();
  ada.sync();
  assert.deepEqual([ada.shown, ada.state.asking], [null, true]);
  one.held = [];
  ada.world.pass(10_000);
  ada.sync();
  assert.deepEqual([ada.shown, ada.state.asking], ["t1", false]);
  ada.choose();
  ada.sync();
  const requested = one.requests.length;
  ada.world.pass(30_000);
  ada.sync();
  assert.equal(one.requests.length, requested, "all is done: nothing is asked for");
});

test("when the campaign's task changes, what is on screen can be decided and nothing else", () => {
  const ada = new Annotator(desk());
  ada.desk.task = "preference";
  ada.choose();
  ada.sync();
  assert.equal(ada.state.scope.task, "preference");
  assert.equal(ada.shown, "t1");
  ada.choose(1);
  assert.equal(ada.shown, null);
  ada.undo();
  assert.equal(ada.shown, "t1");
  ada.choose(2);
  ada.saved("t0: none", "t1: 1", "t1: undone", "t1: 2");
});

test("nothing is on screen before the topic that the page asks for", () => {
  const one = desk(30);
  const ada = new Annotator(one, { requested: "t20" });
  assert.equal(ada.shown, "t20");
  assert.equal(ada.state.requested, undefined);
  ada.choose(3);
  assert.equal(ada.shown, "t0");
  ada.saved("t20: 3");
  const slow = new Annotator(desk(30));
  slow.mount({ fresh: true, requested: "t25" });
  assert.equal(slow.shown, null);
  slow.choose();
  assert.equal(slow.notice, "nothing-here");
  slow.sync();
  assert.equal(slow.shown, "t25");
});

test("a topic that the page asks for and that is held is there at once", () => {
  const ada = new Annotator(desk());
  ada.skip();
  ada.mount({ fresh: true, requested: "t3" });
  assert.equal(ada.shown, "t3");
  ada.mount({ fresh: true, requested: "t0" });
  assert.equal(ada.shown, "t0", "also a skipped one");
});

test("a topic that is decided is looked back at", () => {
  let ada = new Annotator(desk());
  ada.choose(3);
  ada.sync();
  ada = ada.reload({ requested: "t0" });
  assert.deepEqual([ada.shown, ada.ticked, ada.notice], ["t0", [3], "looking-back"]);
  ada.look(1);
  assert.equal(ada.shown, "t1");
});

test("a topic that cannot be shown is said beside the next", () => {
  const ada = new Annotator(desk());
  ada.mount({ fresh: true, requested: "t99" });
  while (ada.world.requests.length) {
    if (ada.world.requests[0]?.request.route === "list/unit") ada.world.lose("requests", 0, 400);
    else ada.world.serve(0);
    ada.world.answer(0);
  }
  assert.equal(ada.notice, "cannot-show-requested");
  assert.equal(ada.shown, "t0");
});

test("what was decided elsewhere leaves; what is on screen leaves after a while away, unless it was touched", () => {
  const ada = new Annotator(desk());
  const away = () => {
    ada.tab.dispatch({ type: "visible", visible: false });
    ada.world.now += 40_000;
    ada.tab.dispatch({ type: "visible", visible: true });
    ada.sync();
  };
  ada.desk.ended = ["t0", "t2"];
  ada.tab.dispatch({ type: "beat" });
  ada.sync();
  assert.equal(ada.shown, "t0", "not under the annotator's hands");
  assert(!ada.state.units.some(({ id }) => id === "t2"));
  ada.tick(1);
  away();
  assert.equal(ada.shown, "t0");
  ada.tick(1);
  away();
  assert.equal(ada.shown, "t1");
  assert.equal(ada.notice, "closed-elsewhere");
});
