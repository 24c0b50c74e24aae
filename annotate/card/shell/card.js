/**
 * A card at work: the machine's state, and the shell that carries out its effects.
 *
 * It outlives reruns of the page and visits to other pages; its view comes and goes (`view/frame/mount.js`). Everything that
 * happens goes through `dispatch`: one step of the machine, its effects, and then the screen is brought up to date.
 */

/** @import { By, Effect, Event, Kind, Request, State, TimerName } from "../core/types.js" */
/** @import { CardData } from "../view/types.js" */

import { step } from "../core/machine.js";
import { initial, onScreen } from "../core/state.js";
import { inWords } from "../core/words.js";
import { Arrangement } from "./arrangement.js";
import { Failure, Network } from "./network.js";
import { newUuid, Storage } from "./storage.js";
import { ViewingTime } from "./viewing_time.js";

/** Ms between calls to the other tabs, and between requests that tell the server what is held. */
const CALL = 4_000;
const HEARTBEAT = 120_000;

/** After these events, effects that can wait are carried out with the next one, at the latest the timer `pump`: the screen comes first. */
const GOES_ON = new Set(["decide", "respond", "pass"]);

/** Whether an effect can wait until the screen is painted; unsent decisions cannot. @param {Effect} effect */
const canWait = (effect) => effect.type === "tell" || (effect.type === "store" && !effect.key.startsWith("pending:"));

/** Whatever an event brings besides the time and a uuid, which `dispatch` adds. */
/** @typedef {Event extends infer E ? E extends Event ? Omit<E, "at" | "uuid"> : never : never} Happening */

/** @template [Scope=any] */
export class Card {
  /** @param {Kind<Scope>} kind @param {CardData} data @param {string} place the prefix of what the browser stores for it */
  constructor(kind, data, place) {
    this.kind = kind;
    this.data = data;
    /** Puts sentences of the card into the words of the campaign. */
    this.words = inWords(data.words);
    this.storage = new Storage(place);
    this.network = new Network(data.routes, data.annotator, data.token);
    /** Open before the storage is read: what another tab decides meanwhile is in one or the other. @type {BroadcastChannel | undefined} */
    this.channel = new BroadcastChannel(place);
    /** @type {State<Scope>} */
    this.state = initial(kind, this.storage.load(newUuid()));
    this.arrangement = new Arrangement(this.storage, this.network, data.own);
    /** Draws the state; set by the view while there is one. @type {(() => void) | undefined} */
    this.draw = undefined;
    /** The subject drawn last, and what keys refer to: a question of it. @type {string | null} */
    this.drawn = null;
    /** @type {string | null} */
    this.on = null;
    /** @type {ViewingTime | null} */
    this.clock = null;
    /** Effects that wait until the screen is painted. @type {Effect[]} */
    this.later = [];
    /** @type {Map<TimerName, ReturnType<typeof setTimeout>>} */
    this.timers = new Map();
    this.openTabs(place, this.channel);
    setInterval(() => this.isInFront() && this.dispatch({ type: "beat" }), HEARTBEAT);
  }

  /** @param {Happening} happening */
  dispatch(happening) {
    const event = /** @type {Event} */ ({ at: Date.now(), uuid: newUuid(), ...happening });
    const { state, effects } = step(this.kind, this.state, event);
    this.state = state;
    for (const effect of this.later.splice(0)) this.carryOut(effect);
    this.later = GOES_ON.has(event.type) ? effects.filter(canWait) : [];
    for (const effect of effects) if (!this.later.includes(effect)) this.carryOut(effect);
    // The time so far is in the decision: where its unit stays on screen, the clock restarts.
    if (effects.some((effect) => effect.type === "store" && effect.key.startsWith("pending:") && effect.value))
      this.clock = null;
    try {
      this.draw?.();
    } catch (error) {
      return reportError(error); // the step is taken all the same; keys do nothing until it is drawn
    }
    const { drawn = null, on = null } = onScreen(this.kind, this.state) ?? {};
    this.on = on;
    if (drawn === this.drawn && this.clock) return this.clock.run();
    this.drawn = drawn;
    this.clock = drawn === null ? null : new ViewingTime(() => this.isInFront());
  }

  /** @param {Effect} effect */
  carryOut(effect) {
    if (effect.type === "send") void this.send(effect.request);
    if (effect.type === "store") this.storage.write(effect.key, effect.value);
    if (effect.type === "tell") this.channel?.postMessage({ ...effect.message, tab: this.state.tab });
    if (effect.type === "timer") this.time(effect.name, effect.ms);
  }

  /** @param {Request} request */
  async send(request) {
    const { route, body, lane } = request;
    if (lane === "last") return void this.network.send(route, body).catch(() => undefined);
    try {
      const answer = await this.network.post(route, body);
      this.dispatch({ type: "answer", request, answer });
    } catch (error) {
      if (!(error instanceof Failure)) reportError(error); // an answer that the machine cannot read
      const { status, detail } = error instanceof Failure ? error : new Failure(-1);
      this.dispatch({ type: "failure", request, status, detail });
    }
  }

  /** @param {TimerName} name @param {number | null} ms null stops it */
  time(name, ms) {
    clearTimeout(this.timers.get(name));
    const ring = () => this.dispatch({ type: "timer", name });
    if (ms !== null) this.timers.set(name, setTimeout(ring, ms));
  }

  /** Hears of the annotator's other tabs, in place of another copy of this module in this one. @param {string} place @param {BroadcastChannel} channel */
  openTabs(place, channel) {
    const slot = Symbol.for(`cleverdon.judging.tabs ${place}`);
    const others = /** @type {Record<symbol, AbortController>} */ (/** @type {unknown} */ (window));
    others[slot]?.abort();
    others[slot] = new AbortController();
    const { signal } = others[slot];
    /** @param {MessageEvent} event */
    const hear = ({ data }) => {
      // Another edition of this card may be open in another tab.
      const isKnown =
        data?.type === "said"
          ? data.pending?.decision?.uuid
          : !["here", "there?"].includes(data?.type) || Array.isArray(data.waiting);
      if (typeof data?.tab !== "string" || !isKnown) return;
      this.dispatch({ type: "message", tab: data.tab, message: data });
    };
    channel.addEventListener("message", hear, { signal });
    /** @param {PageTransitionEvent} event */
    const show = ({ persisted }) => persisted && this.dispatch({ type: "call", new: true });
    window.addEventListener("pageshow", show, { signal });
    /** @param {StorageEvent} event */
    const take = ({ key }) => {
      if (!key?.startsWith(place)) return;
      const name = key.slice(place.length);
      const value = this.storage.read(name);
      if (name === "own") this.arrangement.take(value);
      this.dispatch({ type: "stored", name, value });
    };
    window.addEventListener("storage", take, { signal });
    const calling = setInterval(() => this.dispatch({ type: "call" }), CALL);
    signal.addEventListener("abort", () => {
      clearInterval(calling);
      channel.close();
      this.channel = undefined;
    });
    this.carryOut({ type: "tell", message: { type: "there?", waiting: [] } });
  }

  isInFront() {
    return document.visibilityState === "visible" && this.state.mounted;
  }

  /** The fields of a decision that describe how it was made and what was on screen. @param {"key" | "click"} source @returns {By} */
  by(source) {
    const clock = this.clock ?? new ViewingTime(() => false);
    clock.run();
    return { ...clock.read(), source, on: this.on };
  }

  /** Says something in the line above the buttons, until something else is on screen. @param {string} words */
  say(words) {
    this.dispatch({ type: "notice", notice: words ? { code: "words", words: this.words(words), urgent: true } : null });
  }
}
