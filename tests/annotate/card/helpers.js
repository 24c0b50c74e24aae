// One annotator at a card whose units are topics or pairs, and a server that hands them out.

import assert from "node:assert/strict";
import { countOf } from "../../../annotate/card/core/kinds/units.js";
import { chosenOf, newTopicUnit, onScreen } from "../../../annotate/card/core/state.js";
import { commit, doc, standing, World } from "./world.js";

/** @import { Answer, Kind, Marks, Sent } from "../../../annotate/card/core/types.js" */

/** The plan after each answer; no promise. */
const THEN = "then";

const ANSWERS = ["left", "right", "equal", "cannot judge"];

/** @param {string} id */
const topic = (id) => ({ query_id: id, title: `Topic ${id}`, description: "", narrative: "", note: "" });

/** What the server has: topics `t0`, `t1`, ... with documents; for adjudication the documents of one topic. */
export class Desk {
  /** @param {Kind} kind @param {number} topics @param {number} documents */
  constructor(kind, topics, documents) {
    this.kind = kind;
    this.topics = Array.from({ length: topics }, (_, i) => `t${i}`);
    this.documents = Array.from({ length: documents }, (_, i) => `d${i}`);
    /** @type {Map<string, Sent>} */
    this.log = new Map();
    /** Units that other annotators hold, and those that they have decided. @type {string[]} */
    this.held = [];
    /** @type {string[]} */
    this.ended = [];
    /** Units whose decisions are refused. @type {string[]} */
    this.refuses = [];
    /** What the campaign asks for. */
    this.task = kind.name;
    /** How many answers deep plans are. */
    this.depth = 1;
    /** Fails requests with this status: before the server has done anything, or after it. @type {number | null} */
    this.status = null;
    this.isAfter = false;
    /** Version of the documents, which stands in the titles of changed ones. */
    this.version = "First version";
    /** @type {{ route: string, body: any }[]} */
    this.requests = [];
  }

  get stands() {
    return [...standing(this.kind, this.log).values()];
  }

  /** The ids of all units, in their order. */
  get ids() {
    const { documents, kind, topics } = this;
    return kind.name === "adjudication" ? documents.map((id) => pairId(id)) : topics;
  }

  /** The comparisons of a topic that are left: each document with each later one. @param {string} id */
  left(id) {
    const pairs = this.documents.flatMap((a, i) => this.documents.slice(i + 1).map((b) => [a, b]));
    const done = this.stands.filter(({ query_id }) => query_id === id).map(({ left, right }) => `${left} ${right}`);
    return pairs.filter(([a, b]) => !done.includes(`${a} ${b}`) && !done.includes(`${b} ${a}`));
  }

  /** @param {string[][]} pairs @param {number} depth @returns {object} */
  ahead(pairs, depth = this.depth) {
    if (!pairs.length) return { pair: null };
    const next = depth > 0 && this.ahead(pairs.slice(1), depth - 1);
    return { pair: pairs[0], ...(next && { [THEN]: Object.fromEntries(ANSWERS.map((answer) => [answer, next])) }) };
  }

  /** @param {string} id */
  plan(id) {
    const left = this.left(id);
    const all = (this.documents.length * (this.documents.length - 1)) / 2;
    return { next: this.ahead(left), done: all - left.length, expected: all };
  }

  /** @param {string} id */
  isDone(id) {
    if (this.kind.name === "preference") return !this.left(id).length;
    return this.ended.includes(id) || this.stands.some((decision) => this.kind.unitId(decision) === id);
  }

  /** @param {string} id */
  unit(id) {
    const former = this.stands.filter((decision) => this.kind.unitId(decision) === id);
    if (this.kind.name === "adjudication") {
      const [queryId, docId] = JSON.parse(id);
      return { topic: topic(queryId), documents: [doc(docId)], opinions: [], former: former[0] ?? null };
    }
    const unit = { topic: topic(id), documents: this.documents.map(doc) };
    if (this.kind.name === "list") return { ...unit, former: former[0] ?? null };
    return { ...unit, former, plan: this.plan(id) };
  }

  /** The version of the documents, and those of a pair or topic that a card holds in an earlier one. @param {any} body @param {(name: string) => string[]} pairOf */
  content({ holding, version }, pairOf) {
    const changed = holding.map(pairOf).map((/** @type {string[]} */ [query_id, id = ""]) => ({
      query_id,
      ...doc(id),
      title: `${this.version} of ${id}`,
    }));
    return { version: this.version, ...(version !== this.version && { changed }) };
  }

  /** @param {string} route @param {any} body */
  answer(route, body) {
    this.requests.push({ route, body });
    return this.reply(route, body);
  }

  /** @param {string} route @param {any} body @returns {any} */
  reply(route, body) {
    if (route.endsWith("/recent"))
      return { decisions: this.stands.reverse().map((each) => ({ ...each, title: `Title of ${each.query_id}` })) };
    if (route.endsWith("/unit")) return this.unit(body.unit);
    const answer = commit(this.log, body.decisions, (each) => this.refuses.includes(this.kind.unitId(each)));
    const wanted = this.ids.filter((id) => !body.filter?.only || body.filter.only.includes(id));
    const open = wanted.filter((id) => !this.isDone(id));
    const free = open.filter((id) => !body.holding.includes(id) && !this.held.includes(id));
    const touched = body.decisions.map((/** @type {Sent} */ { query_id }) => query_id);
    const planned = this.kind.name === "preference" ? [...touched, ...body.holding] : [];
    return {
      ...answer,
      ...(this.kind.name === "adjudication" && this.content(body, JSON.parse)),
      task: this.task,
      units: this.task === this.kind.name ? free.slice(0, body.want).map((id) => this.unit(id)) : [],
      plans: Object.fromEntries(planned.map((id) => [id, this.plan(id)])),
      closed: body.holding.filter((/** @type {string} */ id) => this.isDone(id)),
      exhausted: free.length <= body.want,
      progress: { done: wanted.length - open.length, goal: wanted.length },
    };
  }
}

/** The id of a pair to adjudicate. @param {string} docId */
export const pairId = (docId, queryId = "t0") => JSON.stringify([queryId, docId]);

/**
 * An annotator at one tab. Names of keys are verbs; what is read from the card is a noun.
 *
 * @template {Desk} [D=Desk]
 */
export class Annotator {
  /** @param {D} desk @param {{ requested?: string | null, world?: World, reads?: boolean }} options */
  constructor(desk, { requested = null, world, reads = true } = {}) {
    this.desk = desk;
    this.reads = reads;
    this.world = world ?? new World(desk.kind, desk, 0);
    this.tab = this.world.open();
    if (requested !== null) this.mount({ fresh: true, requested });
    this.sync();
  }

  /** @param {any} happening */
  act(happening) {
    this.tab.dispatch(happening);
    this.read();
  }

  /** Begins each new topic as soon as it is shown, unless a test is about that. */
  read() {
    if (this.reads && this.newTopic) this.tab.dispatch({ type: "enter" });
  }

  /** @param {{ fresh?: boolean, requested?: string | null, filter?: object, follows?: boolean }} data */
  mount({ fresh = false, requested = null, filter, follows } = {}) {
    this.act({ type: "mount", fresh, requested, filter, follows });
  }

  /** Requests are answered, or fail, until nothing is under way; then other tabs hear of it. */
  sync() {
    const { desk, world } = this;
    for (let round = 0; round < 8; round += 1) {
      for (const tab of world.tabs) while (tab.inbox.length) world.hear(tab);
      while (world.requests.length) {
        if (desk.status !== null && !desk.isAfter) world.lose("requests", 0, desk.status);
        else world.serve(0);
      }
      while (world.answers.length) {
        if (desk.status !== null) world.lose("answers", 0, desk.status);
        else world.answer(0);
      }
      world.pass(500);
      this.read();
    }
  }

  /** A new tab in the place of this one: what the browser stored is all that is left. */
  reload(options = {}) {
    this.world.close(this.tab, true);
    return new Annotator(this.desk, { world: this.world, ...options });
  }

  // --------------------------------------------------------------------------------------------------- keys

  /** @param {Answer} answer @param {string | null} [on] what was on screen when the key was pressed */
  decide(answer, on) {
    this.act({ type: "decide", answer, ...this.tab.by(on) });
  }

  /** Submits a list with the documents in these places. @param {number[]} places */
  choose(...places) {
    this.decide({ kind: "chosen", chosen: places.map((place) => `d${place}`) });
  }

  /** @param {number} place */
  tick(place) {
    this.act({ type: "tick", id: `d${place}` });
  }

  /** @param {string} kind */
  prefer(kind) {
    this.decide({ kind });
  }

  /** @param {number} relevance */
  grade(relevance) {
    this.decide({ kind: "graded", relevance });
  }

  /** @param {Marks} changes */
  mark(changes) {
    this.act({ type: "mark", changes, ...this.tab.by() });
  }

  begin() {
    this.tab.dispatch({ type: "enter" });
  }

  undo() {
    this.act({ type: "undo", ...this.tab.by() });
  }

  skip() {
    this.act({ type: "skip" });
  }

  /** @param {number} step */
  look(step) {
    this.act({ type: "look", step });
  }

  /** @param {string} queryId */
  turnTo(queryId) {
    this.act({ type: "topic", queryId });
  }

  /** Away from the page for so long that what is open may have been decided elsewhere. */
  leave() {
    this.act({ type: "visible", visible: false });
    this.world.now += 40_000;
    this.act({ type: "visible", visible: true });
    this.sync();
  }

  // --------------------------------------------------------------------------------------------- the screen

  get state() {
    return this.tab.state;
  }

  get item() {
    return onScreen(this.desk.kind, this.state);
  }

  /** The topic that waits for a key; null for none. */
  get newTopic() {
    return newTopicUnit(this.desk.kind, this.state)?.queryId ?? null;
  }

  /** What is on screen: the topic, the topic and its two documents, or the document to adjudicate; null for nothing. */
  get shown() {
    const { desk, item } = this;
    if (!item) return null;
    const { doc_id, left, right } = item.about;
    if (desk.kind.name === "preference") return `${item.unit.queryId} ${left} ${right}`;
    return doc_id ?? item.unit.queryId;
  }

  /** The places of the documents that are selected. */
  get ticked() {
    return this.item && chosenOf(this.state, this.item).map((id) => Number(id.slice(1)));
  }

  get notice() {
    return this.state.notice?.code ?? null;
  }

  get done() {
    return countOf(this.state)?.done;
  }

  /** Decisions that wait in the browser. */
  get stored() {
    return [...this.world.storage.keys()].filter((key) => key.startsWith("pending:")).length;
  }

  /** What the server has, in short. */
  get log() {
    return [...this.desk.log.values()].map(({ query_id, doc_id, kind, chosen, left, right, relevance }) => {
      if (kind === "chosen") return `${query_id}: ${chosen?.map((id) => id.slice(1)).join(" ") || "none"}`;
      return [doc_id ?? [query_id, left, right].filter(Boolean).join(" "), relevance ?? kind].join(": ");
    });
  }

  /** Everything is with the server, and the server has this. @param {string[]} log */
  saved(...log) {
    this.sync();
    assert.equal(this.stored, 0, "nothing waits");
    assert.deepEqual(this.log, log);
  }
}
