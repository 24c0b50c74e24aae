// The loop that carries out the machine's effects, in a browser of which only this much exists.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { list } from "../../../annotate/card/core/kinds/list.js";
import { Card } from "../../../annotate/card/shell/card.js";
import { Desk } from "./helpers.js";

/** What the tests see of it. */
class Browser {
  constructor() {
    mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
    this.desk = new Desk(list, 4, 3);
    /** @type {any[]} */
    this.messages = [];
    /** @type {(() => void)[]} */
    this.requests = [];
    this.now = 0;
    const { messages } = this;
    mock.method(performance, "now", () => this.now);
    mock.method(globalThis, "fetch", this.fetch.bind(this));
    /** @type {Record<string, unknown>} */
    const names = {
      window: new EventTarget(),
      document: { visibilityState: "visible" },
      localStorage: { setItem: () => undefined, removeItem: () => undefined, getItem: () => null },
      reportError: () => undefined,
      BroadcastChannel: class extends EventTarget {
        postMessage = (/** @type {any} */ message) => messages.push(message);
        close = () => undefined;
      },
    };
    for (const [name, value] of Object.entries(names))
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    const data = /** @type {any} */ ({ routes: "/api", annotator: "ann", token: "token", own: null });
    this.card = new Card(list, data, "place:");
    /** @type {Promise<void>[]} */
    this.sent = [];
    const { card, sent } = this;
    const { send } = card;
    mock.method(card, "send", (/** @type {any} */ request) => sent.push(send.call(card, request)));
  }

  /** @param {string} address @param {{ body: string }} request */
  fetch(address, { body }) {
    return new Promise((resolve) => {
      this.requests.push(() =>
        resolve(new Response(JSON.stringify(this.desk.answer(address.slice("/api/".length), JSON.parse(body))))),
      );
    });
  }

  /** The server answers what has been asked; the page reads it. */
  async answer() {
    const sent = this.sent.splice(0);
    for (const respond of this.requests.splice(0)) respond();
    await Promise.all(sent);
  }
}

/** @param {string} name @param {(browser: Browser) => Promise<void> | void} body */
const inBrowser = (name, body) =>
  test(name, async () => {
    try {
      await body(new Browser());
    } finally {
      mock.timers.reset();
      mock.restoreAll();
    }
  });

inBrowser(
  "a view that cannot be drawn is no failed request: its answer counts, and one request is under way",
  async (browser) => {
    const { card, requests } = browser;
    card.draw = () => {
      throw new Error("drawing failed");
    };
    card.dispatch({ type: "mount", fresh: true, requested: null });
    assert.equal(requests.length, 1);
    await browser.answer();
    assert.equal(card.state.sync.failures, 0);
    assert.equal(card.state.units.length, 4);
    mock.timers.tick(60_000);
    assert.equal(requests.length, 1, "one at a time");
  },
);

inBrowser("what cannot be read is asked for again", async (browser) => {
  const { card, desk } = browser;
  const answer = mock.method(desk, "answer", () => ({ saved: 1 }));
  card.dispatch({ type: "mount", fresh: true, requested: null });
  await browser.answer();
  assert.deepEqual([card.state.sync.failures, card.state.sync.running], [1, false]);
  answer.mock.restore();
  mock.timers.tick(1_000);
  await browser.answer();
  assert.equal(card.state.units.length, 4);
});

inBrowser(
  "a page that goes away tells the other tabs at once, and sends what waits in one request",
  async (browser) => {
    const { card, requests, messages } = browser;
    card.dispatch({ type: "mount", fresh: true, requested: null });
    await browser.answer();
    await browser.answer();
    requests.length = 0;
    card.dispatch({ type: "decide", answer: { kind: "chosen", chosen: ["d1"] }, ...card.by("key") });
    card.dispatch({ type: "leave" });
    assert.equal(messages.at(-1).type, "bye");
    assert.equal(requests.length, 1);
    await browser.answer();
    assert.deepEqual(
      [...browser.desk.log.values()].map(({ chosen }) => chosen),
      [["d1"]],
    );
  },
);

inBrowser("what comes next is drawn before other tabs are told, and what is unsent is kept first", async (browser) => {
  const { card, messages } = browser;
  card.dispatch({ type: "mount", fresh: true, requested: null });
  await browser.answer();
  const kept = mock.method(localStorage, "setItem");
  const said = () => messages.some(({ type }) => type === "said");
  /** @type {boolean[]} */
  const drawn = [];
  card.draw = () => drawn.push(said());
  card.dispatch({ type: "decide", answer: { kind: "chosen", chosen: ["d1"] }, ...card.by("key") });
  assert.deepEqual(drawn, [false]);
  assert.equal(kept.mock.calls.length, 1);
  mock.timers.tick(100);
  assert(said());
});

inBrowser("reading goes on after the page has mounted its card again", async (browser) => {
  const { card } = browser;
  card.draw = () => undefined;
  card.dispatch({ type: "mount", fresh: true, requested: null });
  await browser.answer();
  browser.now = 1_000;
  card.dispatch({ type: "unmount" });
  card.clock?.run();
  card.dispatch({ type: "mount", fresh: false, requested: null });
  browser.now = 4_000;
  const { seconds, away } = card.by("key");
  assert.deepEqual([seconds, away], [4, 0]);
});

inBrowser("the time of a mark on what is decided counts once", async (browser) => {
  const { card } = browser;
  card.draw = () => undefined;
  card.dispatch({ type: "mount", fresh: true, requested: null });
  await browser.answer();
  card.dispatch({ type: "decide", answer: { kind: "chosen", chosen: ["d1"] }, ...card.by("key") });
  card.dispatch({ type: "look", step: -1 });
  for (const seconds of [20, 7]) {
    browser.now += seconds * 1_000;
    card.dispatch({ type: "mark", changes: { note: `after ${seconds} seconds` }, ...card.by("key") });
  }
  assert.deepEqual(
    card.state.outbox.map(({ decision }) => [decision.seconds, decision.away]),
    [
      [0, 0],
      [20, 0],
      [7, 0],
    ],
  );
});
