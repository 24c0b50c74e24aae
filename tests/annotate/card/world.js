// A world for the machine: a server that commits, tabs that come and go, and a network that loses and delays.
//
// Everything is deterministic: time only passes when it is told to, and what waits is in queues that the test empties.

import assert from "node:assert/strict";
import { step } from "../../../annotate/card/core/machine.js";
import { initial, onKey, onScreen, outstanding } from "../../../annotate/card/core/state.js";

/** @import { AnswerValue, Decision, Event, Kind, Message } from "../../../annotate/card/core/types.js" */
/** @import { Question, Request, Sent, State } from "../../../annotate/card/core/types.js" */

/** @template T @param {T} value @returns {T} */
export function deepFreeze(value) {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  Object.values(value).forEach(deepFreeze);
  return value;
}

/** @param {string} id */
export const doc = (id) =>
  /** @type {any} */ ({ doc_id: id, title: `Title of ${id}`, text: id, images: [], metadata: {}, truncated: false });

/**
 * What a server of one kind of task does; `log` are the decisions that it has committed, in their order.
 *
 * @typedef {{ log: Map<string, Sent>, answer: (route: string, body: any) => object, goesOn?: boolean }} Server
 */

/** What every server does with decisions: saved once, or refused for good. @param {Server["log"]} log @param {Sent[]} decisions @param {(decision: Sent) => boolean} isRefused */
export function commit(log, decisions, isRefused = () => false) {
  const refused = decisions.filter(isRefused);
  const saved = decisions.filter((decision) => !refused.includes(decision));
  for (const decision of saved) if (!log.has(decision.uuid)) log.set(decision.uuid, structuredClone(decision));
  return {
    saved: saved.map(({ uuid }) => uuid),
    refused: refused.map(({ uuid }) => ({ uuid, reason: "refused here" })),
  };
}

/** The questions that follow a grade, by their definition. @param {Question[]} questions @param {number} grade */
export const askedOf = (questions, grade) =>
  questions.filter(({ from, to }) => grade >= (from ?? -Infinity) && grade <= (to ?? Infinity));

/** Whether a question is asked on request alone in a topic. @param {Question} question @param {string} topic */
export const waits = ({ required_in: topics }, topic) => Boolean(topics && !topics.includes(topic));

/** True if a judgement has all required answers. @param {Question[]} questions @param {Decision} decision */
export const isComplete = (questions, { kind, query_id, relevance, answers = {} }) =>
  kind !== "graded" ||
  askedOf(questions, relevance ?? 0).every(
    (question) => !question.required || waits(question, query_id) || question.name in answers,
  );

/** The decision that stands on each subject: the last in the log that is not undone. @param {Kind} kind @param {Server["log"]} log */
export function standing(kind, log) {
  /** @type {Map<string, Sent>} */
  const stands = new Map();
  for (const decision of log.values()) {
    if (decision.kind === "undone") stands.delete(kind.subject(decision));
    else stands.set(kind.subject(decision), decision);
  }
  return stands;
}

/** A tab: the machine's state, and what it waits for. */
class Tab {
  /** @param {World} world @param {string} name */
  constructor(world, name) {
    this.world = world;
    this.name = name;
    /** @type {State} */
    this.state = initial(world.kind, world.stored(name));
    /** @type {Map<string, number>} */
    this.timers = new Map();
    /** Messages of other tabs, and names of what they have stored. @type {({ tab: string, message: Message } | { name: string })[]} */
    this.inbox = [];
    /** @type {string | null} */
    this.drawn = null;
    /** The topic that the annotator has begun or asked for. @type {string | null} */
    this.begun = null;
    this.say({ type: "there?", waiting: [] });
    this.dispatch({ type: "mount", fresh: true, requested: null, questions: world.questions });
  }

  /** @param {Message} message */
  say(message) {
    for (const tab of this.world.tabs) if (tab !== this) tab.inbox.push(structuredClone({ tab: this.name, message }));
  }

  /** @param {any} happening */
  dispatch(happening) {
    const { world } = this;
    const event = /** @type {Event} */ ({ at: world.now, uuid: world.uuid(), ...happening });
    const before = deepFreeze(this.state);
    const { state, effects } = step(world.kind, before, deepFreeze(event));
    this.state = state;
    for (const effect of effects) {
      if (effect.type === "send")
        world.requests.push({ tab: this, request: effect.request, sent: structuredClone(effect.request.body) });
      if (effect.type === "store") world.store(this, effect.key, effect.value);
      if (effect.type === "tell") this.say(effect.message);
      if (effect.type === "timer") {
        if (effect.ms === null) this.timers.delete(effect.name);
        else this.timers.set(effect.name, world.now + effect.ms);
      }
    }
    world.check(this, before, event);
    this.begin(event);
    this.drawn = onKey(world.kind, state);
  }

  /** Notes which topic a key has asked for; the first one is there when the page is opened. @param {Event} event */
  begin(event) {
    const { kind } = this.world;
    const { scope, units } = this.state;
    const isFetched = event.type === "answer" && event.request.lane === "aside";
    const asks = ["enter", "topic", "next-topic", "undo"].includes(event.type) || isFetched;
    const shown = onScreen(kind, this.state);
    if (asks) this.begun = kind.name === "grade" ? scope.topic : (units[0]?.queryId ?? null);
    else if (shown && !shown.entry) this.begun ??= shown.unit.queryId;
  }

  /** What a key press brings, for what was drawn then. */
  by(on = this.drawn) {
    return { on, shown_at: "2026-01-01T00:00:00.000Z", seconds: 1, away: 0, source: /** @type {const} */ ("key") };
  }

  runTimers() {
    for (const [name, at] of [...this.timers]) {
      if (at > this.world.now || this.timers.get(name) !== at) continue;
      this.timers.delete(name);
      this.dispatch({ type: "timer", name });
    }
  }
}

export class World {
  /** @param {Kind} kind @param {Server} server @param {number} tabs @param {{ questions: Question[] }} campaign */
  constructor(kind, server, tabs = 1, campaign = { questions: [] }) {
    this.kind = kind;
    /** The further questions; a tab hears of new ones when the page runs again. */
    this.campaign = campaign;
    /** What keys have answered: by subject and question, with the grades under `relevance`. @type {Map<string, AnswerValue[]>} */
    this.given = new Map();
    this.server = server;
    this.now = 1_000_000;
    this.count = 0;
    /** @type {Map<string, unknown>} */
    this.storage = new Map();
    /** @type {Tab[]} */
    this.tabs = [];
    /** @type {{ tab: Tab, request: Request, sent: any }[]} */
    this.requests = [];
    /** What the server has answered and no tab has read yet. @type {{ tab: Tab, request: Request, answer: any }[]} */
    this.answers = [];
    /** Every decision that a key made. @type {Map<string, Sent>} */
    this.made = new Map();
    /** Unsent decisions that a tab knew of, with the one that it made after them on the same. @type {[string, string][]} */
    this.followed = [];
    for (let i = 0; i < tabs; i += 1) this.open();
  }

  get questions() {
    return structuredClone(this.campaign.questions);
  }

  uuid() {
    this.count += 1;
    return `u${this.count}`;
  }

  open() {
    const tab = new Tab(this, `tab${this.count}`);
    this.tabs.push(tab);
    return tab;
  }

  /** A tab is gone: in order, or killed. @param {Tab} tab @param {boolean} inOrder */
  close(tab, inOrder) {
    if (inOrder) tab.dispatch({ type: "leave" });
    this.tabs = this.tabs.filter((each) => each !== tab);
  }

  /** @param {Tab} by @param {string} key @param {unknown} value */
  store(by, key, value) {
    if (value === null) this.storage.delete(key);
    else this.storage.set(key, JSON.parse(JSON.stringify(value)));
    if (/^(draft|refused):/.test(key)) for (const tab of this.tabs) if (tab !== by) tab.inbox.push({ name: key });
    if (!key.startsWith("pending:") || value === null) return;
    const { decision } = /** @type {{ decision: Sent }} */ (value);
    assert(!this.made.has(decision.uuid), "a decision is made once");
    this.made.set(decision.uuid, decision);
  }

  /** @param {string} tab */
  stored(tab) {
    const stored = (/** @type {string} */ start) => [...this.storage].filter(([key]) => key.startsWith(start));
    const outbox = /** @type {any[]} */ (stored("pending:").map(([, value]) => value));
    const drafts = Object.fromEntries(stored("draft:").map(([key, value]) => [key.slice("draft:".length), value]));
    return /** @type {any} */ (
      structuredClone({
        tab,
        outbox: outbox.sort((a, b) => a.order - b.order),
        drafts,
        refused: stored("refused:").map(([, value]) => value),
        skipped: this.storage.get("skipped") ?? [],
        topic: this.storage.get("topic") ?? null,
        last: this.storage.get("last") ?? null,
      })
    );
  }

  // ---------------------------------------------------------------------------------------------- invariants

  /** What holds after every single step. @param {Tab} tab @param {State} before @param {Event} event */
  check(tab, before, event) {
    const { kind } = this;
    const { state } = tab;
    const running =
      this.requests.filter((each) => each.tab === tab && each.request.lane === "sync").length +
      this.answers.filter((each) => each.tab === tab && each.request.lane === "sync").length;
    assert(running <= 1, "one request of the lane `sync` is under way at a time");
    const news = state.outbox.filter(
      ({ decision }) =>
        !before.outbox.some((each) => each.decision.uuid === decision.uuid) && decision.uuid === event.uuid,
    );
    this.note(before, event);
    for (const { decision } of news) {
      const marked = this.given.get(JSON.stringify([kind.subject(decision), "passages"])) ?? [];
      assert(
        !decision.passages?.length || marked.includes(JSON.stringify(decision.passages)),
        "passages stay with what was on screen when they were marked",
      );
      this.checkAnswers(decision, before, event);
      for (const { decision: former } of outstanding(before))
        if (kind.subject(former) === kind.subject(decision)) this.followed.push([former.uuid, decision.uuid]);
      const shown = onScreen(kind, before);
      if (["decide", "respond", "pass"].includes(event.type)) {
        assert.equal("on" in event && event.on, shown?.on, "a decision goes only to what was on screen");
        assert.equal(kind.subject(decision), shown?.subject);
        const isOpen = shown !== null && !shown.entry;
        // Sentences of an answer follow each other without a key where the server says so, as do pairs of a task.
        const part = (/** @type {string | null} */ id) => (this.server.goesOn ? id?.replace(/\.s\d+$/, "") : id);
        if (isOpen && !before.scope.follows)
          assert.equal(part(decision.query_id), part(tab.begun), "no key decides in a topic that it has not begun");
      }
      assert(
        this.storage.has(`pending:${state.outbox.find((each) => each.decision === decision)?.order}:${decision.uuid}`),
      );
    }
    const item = onScreen(kind, state);
    if (item && !item.entry) {
      const last = outstanding(state).findLast(({ decision }) => kind.subject(decision) === item.subject);
      assert(!last || last.decision.kind === "undone", "what is decided here is not shown as open");
    }
    assert(!state.look || state.history.includes(state.look), "what is looked back at is in the history");
    assert(state.look?.unit !== null, "what is looked back at has its documents");
    assert.equal(new Set(state.units.map(({ id }) => id)).size, state.units.length, "no unit is held twice");
    const subjects = state.history.map(({ decision }) => kind.subject(decision));
    assert.equal(new Set(subjects).size, subjects.length, "no subject is in the history twice");
    for (const { decision } of before.outbox) {
      const isHere =
        state.outbox.some((each) => each.decision.uuid === decision.uuid) || decision.uuid in state.otherDecisions;
      const isAnswered =
        this.server.log.has(decision.uuid) ||
        state.refused.some(({ uuid }) => uuid === decision.uuid) ||
        this.refusedElsewhere(decision);
      assert(isHere || isAnswered, "a decision is forgotten only when the server has named it");
    }
  }

  /** Notes what a key answers: only what was on screen when it was pressed. @param {State} before @param {Event} event */
  note(before, event) {
    const shown = onScreen(this.kind, before);
    if (!shown || !("on" in event) || event.on !== shown.on) return;
    const { question, subject } = shown;
    /** @param {string} name @param {AnswerValue} value */
    const give = (name, value) => {
      const key = JSON.stringify([subject, name]);
      this.given.set(key, [...(this.given.get(key) ?? []), value]);
    };
    if (event.type === "decide" && typeof event.answer.relevance === "number")
      give("relevance", event.answer.relevance);
    if (event.type === "respond" && question) give(question.name, event.value);
    if (event.type === "mark" && event.changes.passages) give("passages", JSON.stringify(event.changes.passages));
  }

  /** Answers are complete, and each was given by a key while its question was on screen. @param {Sent} decision @param {State} before @param {Event} event */
  checkAnswers(decision, { questions, ...before }, event) {
    const { answers = {} } = decision;
    const shown = onScreen(this.kind, { questions, ...before });
    if (decision.kind !== "graded" || event.type === "mark") {
      const kept = event.type === "mark" ? (shown?.entry?.decision.answers ?? {}) : {};
      assert.deepEqual(answers, kept, "marks change no answer, and only grades have any");
      return;
    }
    assert(["decide", "respond", "pass"].includes(event.type), "only keys decide");
    const asked = askedOf(questions, decision.relevance ?? -1);
    const { query_id: topic } = decision;
    if (event.type === "decide")
      assert(
        !asked.some((each) => event.asks || !waits(each, topic)),
        "a grade with further questions waits for their answers",
      );
    for (const name of Object.keys(answers))
      assert(
        asked.some((question) => question.name === name),
        `${name} was not asked`,
      );
    const subject = this.kind.subject(decision);
    const earlier = [...this.made.values()].filter((made) => made !== decision && this.kind.subject(made) === subject);
    const given = (/** @type {string} */ name) => this.given.get(JSON.stringify([subject, name])) ?? [];
    const grades = [...given("relevance"), ...earlier.map(({ relevance }) => relevance)];
    assert(grades.includes(decision.relevance), "the grade was given for this");
    for (const question of asked) {
      const { name, kind, required } = question;
      const value = answers[name];
      if (value === undefined) {
        assert(!required || waits(question, topic), `${name} is missing`);
        continue;
      }
      const former = earlier.flatMap((made) => (made.answers && name in made.answers ? [made.answers[name]] : []));
      const known = [...given(name), ...former.flat()];
      for (const each of [value].flat()) assert(known.includes(each), `${name} was not answered with ${each}`);
      if (kind !== "tags" && event.type === "respond" && shown?.question?.name === name)
        assert.equal(value, given(name).at(-1), "the last key has the last word");
    }
  }

  /** @param {Decision} decision */
  refusedElsewhere(decision) {
    return this.storage.has(`refused:${decision.uuid}`);
  }

  // --------------------------------------------------------------------------------------------- the network

  /** The server gets a request and commits; its answer is on the way. @param {number} at */
  serve(at) {
    const [taken] = this.requests.splice(at, 1);
    if (!taken) return;
    const { tab, request, sent } = taken;
    this.answers.push({ tab, request, answer: structuredClone(this.server.answer(request.route, sent)) });
  }

  /** A request never arrives, or its answer does not. @param {"requests" | "answers"} where @param {number} at @param {number} status */
  lose(where, at, status) {
    const [{ tab, request } = { tab: null, request: null }] = this[where].splice(at, 1);
    if (tab && request && this.tabs.includes(tab)) tab.dispatch({ type: "failure", request, status, detail: "" });
  }

  /** @param {number} at */
  answer(at) {
    const [taken] = this.answers.splice(at, 1);
    if (taken && this.tabs.includes(taken.tab))
      taken.tab.dispatch({ type: "answer", request: taken.request, answer: taken.answer });
  }

  /** @param {Tab} tab */
  hear(tab) {
    const heard = tab.inbox.shift();
    if (heard && "name" in heard)
      tab.dispatch({ type: "stored", name: heard.name, value: structuredClone(this.storage.get(heard.name) ?? null) });
    else if (heard) tab.dispatch({ type: "message", ...heard });
  }

  /** @param {number} ms */
  pass(ms) {
    this.now += ms;
    for (const tab of this.tabs) tab.runTimers();
  }

  /** The first units arrive. */
  load() {
    for (let round = 0; round < 6; round += 1) {
      while (this.requests.length) this.serve(0);
      while (this.answers.length) this.answer(0);
      this.pass(40);
    }
  }

  /** From here on nothing is lost, until nothing is left to do. */
  settle() {
    this.open(); // it finds what was left in the storage
    for (let round = 0; round < 200; round += 1) {
      while (this.tabs.some(({ inbox }) => inbox.length)) for (const tab of this.tabs) this.hear(tab);
      while (this.requests.length) this.serve(0);
      while (this.answers.length) this.answer(0);
      const isIdle = this.tabs.every(
        ({ state, inbox }) => !state.outbox.length && !Object.keys(state.otherDecisions).length && !inbox.length,
      );
      if (isIdle && round > 5 && !this.requests.length) return this.checkOrder();
      this.pass(5_000);
      for (const tab of this.tabs) tab.dispatch({ type: "call" });
    }
    assert.fail("nothing settles");
  }

  /** Whoever decides anew has the last word, in whichever tab the former one waited. */
  checkOrder() {
    const saved = [...this.server.log.keys()];
    for (const [former, later] of this.followed)
      if (saved.includes(former) && saved.includes(later))
        assert(saved.indexOf(former) < saved.indexOf(later), "a decision never comes after the one that follows it");
  }
}
