// Near-duplicates: when the card asks the server for them.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { grade } from "../../../annotate/card/core/kinds/grade.js";
import { pairId } from "../../../annotate/card/core/kinds/pairs.js";
import { nearDuplicates } from "../../../annotate/card/view/document/near_duplicates.js";

Object.defineProperty(globalThis, "window", { value: globalThis });

/** Draws a document again and again for a minute; gives what was asked. @param {{ near?: boolean, pool?: number, keys?: object, task?: string }} setting @param {(object | undefined)[]} answers */
async function drawn({ near, pool = 2, keys = { near: {} }, task }, ...answers) {
  mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {any[]} */
  const requested = [];
  const unit = { id: pairId("t1", "d1"), queryId: "t1", documents: [{ doc_id: "d1", text: "words" }] };
  const view = {
    card: { kind: grade },
    data: { card: { near }, keys: { actions: keys }, task },
    state: {
      units: [unit],
      history: [],
      outbox: [],
      scope: { topic: "t1", topics: [{ query_id: "t1", judged: 0, pool }] },
    },
    render: () => undefined,
    ask: (/** @type {string} */ route, /** @type {any} */ { doc_ids }) => {
      requested.push([route, doc_ids]);
      return Promise.resolve({ answer: answers.shift() });
    },
  };
  const part = nearDuplicates(/** @type {any} */ (view));
  for (let second = 0; second < 60; second += 1) {
    view.state = { ...view.state, units: [...view.state.units] };
    part.rendered?.(null, false);
    mock.timers.tick(1_000);
    await new Promise(setImmediate);
  }
  mock.timers.reset();
  return requested;
}

test("the card asks again while the server has not compared all, or a question has failed, and stops then", async () => {
  const more = { near: {}, more: true };
  const requested = await drawn({}, more, more, undefined, { near: { d1: [] }, more: false });
  assert.deepEqual(requested, Array(4).fill(["near", ["d1"]]));
});

test("nothing is asked where the manager wants no word of near-duplicates", async () => {
  assert.deepEqual(await drawn({ near: false }), []);
});

test("nothing is asked where there can be none, or where no key shows one", async () => {
  assert.deepEqual(await drawn({ pool: 1, task: "support" }), []);
  assert.deepEqual(await drawn({ keys: {} }), []);
});
