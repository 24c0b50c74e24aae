// What is shown while nothing is on screen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { list } from "../../../annotate/card/core/kinds/list.js";
import { preference } from "../../../annotate/card/core/kinds/preference.js";
import { restOf, TOPIC_TEXTS } from "../../../annotate/card/view/units/unit_rest.js";
import { Annotator, Desk } from "./helpers.js";

/** @param {Annotator} ada @param {boolean} cutOff */
const rest = ({ desk, state }, cutOff = false) =>
  restOf({ card: { kind: desk.kind }, face: { one: "topic" }, state }, TOPIC_TEXTS, cutOff);

test("before the first answer, without topics, and when all is done", () => {
  const ada = new Annotator(new Desk(list, 1, 2));
  ada.choose();
  ada.sync();
  assert.equal(rest(ada)[0], "All topics are done");
  assert.equal(rest(ada, true)[0], "All topics are done");
  ada.desk.status = 0;
  const bea = ada.reload();
  assert.deepEqual(rest(bea), ["Loading …", "Fetching the first topics."]);
  assert.equal(rest(bea, true)[0], "No connection");
  assert.equal(rest(new Annotator(new Desk(list, 0, 2)))[0], "Nothing to decide yet");
});

test("while others hold the rest", () => {
  const desk = new Desk(list, 2, 2);
  desk.held = ["t1"];
  const ada = new Annotator(desk);
  ada.choose();
  ada.sync();
  assert.equal(rest(ada)[0], "No free topic right now");
  assert.equal(rest(ada, true)[0], "No free topic right now");
});

test("when the task has changed, and while a topic that was asked for comes", () => {
  const ada = new Annotator(new Desk(list, 2, 2));
  ada.mount({ fresh: true, requested: "t9" });
  assert.deepEqual(rest(ada), ["Loading …", "The requested topic is loading."]);
  ada.desk.task = "preference";
  ada.sync();
  assert.equal(rest(ada)[0], "The task of this campaign has changed");
});

test("while the server plans how a topic goes on", () => {
  const ada = new Annotator(new Desk(preference, 1, 3));
  ada.prefer("left");
  ada.prefer("left");
  assert.deepEqual(rest(ada), ["Loading …", "Fetching what comes next."]);
  assert.equal(rest(ada, true)[0], "No connection");
});
