// Nuggets beside the document: edits that the server has not acknowledged, and the list that they make.

import assert from "node:assert/strict";
import { test } from "node:test";
import { initialNuggets, nuggetStep, shownNuggets } from "../../../annotate/card/core/nuggets.js";

/** @import { NuggetEffect, NuggetEvent, NuggetRequest, NuggetState } from "../../../annotate/card/core/nuggets.js" */
/** @import { NuggetEdit, OwnNugget } from "../../../annotate/card/wire.d.ts" */

/** A state that takes events, with what the browser stores and the requests that were sent. */
class Desk {
  /** @param {Map<string, any>} storage */
  constructor(storage = new Map()) {
    this.storage = storage;
    /** @type {NuggetRequest[]} */
    this.sent = [];
    /** @type {number[]} */
    this.retries = [];
    const stored = (/** @type {string} */ start) =>
      [...storage].filter(([key]) => key.startsWith(start)).map(([, value]) => value);
    this.state = initialNuggets(stored("nugget:"), stored("nugget-refused:"));
  }

  /** @param {NuggetEvent} event */
  step(event) {
    const { state, effects } = nuggetStep(this.state, event);
    this.state = state;
    for (const effect of effects) {
      if (effect.type === "send") this.sent.push(effect.request);
      if (effect.type === "retry") this.retries.push(effect.ms);
      if (effect.type === "store" && effect.value) this.storage.set(effect.key, effect.value);
      if (effect.type === "store" && !effect.value) this.storage.delete(effect.key);
    }
  }

  /** @param {string} queryId @param {NuggetEdit} edit */
  edit(queryId, edit) {
    this.step({ type: "edit", queryId, edit });
  }

  /** @param {OwnNugget[]} nuggets @param {{ uuid: string, reason: string }[]} refused */
  answer(nuggets, refused = []) {
    const request = /** @type {NuggetRequest} */ (this.sent.shift());
    const uuids = request.batch.map(({ edit }) => edit.uuid);
    const saved = uuids.filter((uuid) => !refused.some((each) => each.uuid === uuid));
    this.step({ type: "answer", request, answer: { saved, refused, nuggets } });
  }

  /** @param {number} status @param {string} detail */
  fail(status, detail = "") {
    this.step({ type: "failure", request: /** @type {NuggetRequest} */ (this.sent.shift()), status, detail });
  }

  texts(queryId = "1") {
    return shownNuggets(this.state, queryId)?.map(({ text, importance, waits }) => [text, importance, waits ?? false]);
  }
}

/** @param {string} nugget @param {string} text @param {string} added @returns {OwnNugget} */
const own = (nugget, text, added = "") => ({ nugget, added, text, importance: "", sources: [] });

/** @param {string} uuid @param {string} text @returns {NuggetEdit} */
const add = (uuid, text) => ({ uuid, kind: "add", text, importance: "", sources: [] });

test("an edit shows at once, is stored until the server has it, and goes one request at a time", () => {
  const desk = new Desk();
  assert.equal(shownNuggets(desk.state, "1"), null);
  desk.step({ type: "show", queryId: "1" });
  desk.answer([own("1", "Air lifts.")]);
  desk.edit("1", add("u1", "Heat flows."));
  desk.edit("1", { uuid: "u2", kind: "change", nugget: "1", importance: "vital" });
  assert.deepEqual(desk.texts(), [
    ["Air lifts.", "vital", true],
    ["Heat flows.", "", true],
  ]);
  assert.deepEqual([desk.sent.length, desk.storage.size], [1, 2]);
  desk.answer([own("1", "Air lifts."), own("2", "Heat flows.", "u1")]);
  assert.deepEqual(desk.texts(), [
    ["Air lifts.", "vital", true],
    ["Heat flows.", "", false],
  ]);
  desk.answer([{ ...own("1", "Air lifts."), importance: "vital" }, own("2", "Heat flows.", "u1")]);
  assert.deepEqual([desk.sent.length, desk.storage.size], [0, 0]);
});

test("without a connection edits wait, also over a new visit, and name a nugget that is not saved by its first edit", () => {
  const desk = new Desk();
  desk.edit("1", add("u1", "Heat flows."));
  desk.fail(0);
  desk.edit("1", { uuid: "u2", kind: "change", nugget: "u1", text: "Heat flows down." });
  desk.edit("2", add("u3", "Wings."));
  assert.deepEqual([desk.sent.length, desk.retries], [0, [500]]);
  const later = new Desk(desk.storage);
  assert.deepEqual(later.texts(), [["Heat flows down.", "", true]]);
  later.step({ type: "wake" });
  later.fail(503);
  later.step({ type: "wake" });
  later.fail(401);
  assert.deepEqual(later.retries, [500, 10_000]);
  later.step({ type: "wake" });
  assert.deepEqual(
    later.sent[0]?.batch.map(({ edit }) => edit.uuid),
    ["u1", "u2"],
  );
  later.answer([own("5", "Heat flows down.", "u1")]);
  assert.deepEqual(later.texts(), [["Heat flows down.", "", false]]);
  assert.deepEqual(
    later.sent.map(({ queryId }) => queryId),
    ["2"],
  );
  later.edit("1", { uuid: "u4", kind: "delete", nugget: "u1" }); // the list had the earlier name when its key was pressed
  assert.deepEqual(later.texts(), []);
});

test("a refused text stays in sight until it is dismissed, and marks and deletions that are refused leave no text", () => {
  const desk = new Desk();
  desk.step({ type: "show", queryId: "1" });
  desk.answer([own("1", "Air lifts.")]);
  desk.edit("1", { uuid: "u1", kind: "change", nugget: "1", text: "Air lifts wings." });
  desk.answer([], [{ uuid: "u1", reason: "it was merged" }]);
  assert.deepEqual(desk.texts(), []);
  const later = new Desk(desk.storage);
  assert.deepEqual(
    later.state.refused.map(({ text, reason }) => [text, reason]),
    [["Air lifts wings.", "it was merged"]],
  );
  later.edit("1", { uuid: "u2", kind: "delete", nugget: "1" });
  later.fail(400, "topic '1' is not yours");
  assert.equal(later.state.refused.length, 1);
  later.step({ type: "dismiss", uuid: "u1" });
  assert.deepEqual([later.state.refused, later.storage.size, later.sent], [[], 0, []]);
});

test("what another edition of the card stored is left alone", () => {
  assert.deepEqual(
    new Desk(
      new Map([
        ["nugget:1:x", 1],
        ["nugget-refused:y", null],
      ]),
    ).state.outbox,
    [],
  );
});
