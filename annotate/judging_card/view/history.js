// The last judgements in a drawer: looked through by topic, grade and words, and opened again.

/** @import { Answer, Entry, Topic } from "../core/types.js" */
/** @import { On, Part, Pressed, Reaction } from "./types.js" */
/** @import { View } from "./view.js" */
/** @import { PastJudgement } from "../wire.d.ts" */

import { pairId } from "../core/kinds/grade.js";
import { causeOf } from "../shell/network.js";
import { ONE_MOMENT } from "./bar.js";
import { gradeBadge, lookBack, wordsOf } from "./grades.js";
import { byInput } from "./keys.js";
import { apart, cut, forward, make } from "./nodes.js";
import { figure, plural } from "./phrases.js";
import { option, PAUSE, select } from "./search.js";
import { nameOfTopic, shownTopic } from "./topics.js";

/** Judgements of one answer, and how many rows before the end more are asked for. */
const PAGE = 50;
const NEAR_END = 8;

/** Pixels of the list below what is in sight at which more are asked for. */
const NEAR_END_PX = 600;

/** @type {Record<string, number>} */
const STEPS = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -6,
  PageDown: 6,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** @typedef {{ kind: string, relevance?: number | null, reason?: string | null, judged_at?: string | null }} Former */

/**
 * A judged pair; `former` is what was said before, newest first. Only what this browser holds has its `text`.
 *
 * @typedef {Omit<Partial<PastJudgement>, "former" | "kind" | "judged_at"> & Former & { query_id: string, doc_id: string,
 *           title: string, former: Former[], text?: string | null }} Row
 */

/** @typedef {{ topic: string, grade: string, words: string }} Filter */

/** @param {{ query_id: string, doc_id: string }} row */
const idOf = ({ query_id, doc_id }) => pairId(query_id, doc_id);

/** Without accents and case. @param {string} text */
const plainly = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether a row meets a filter, as far as this browser can tell. @param {Row} row @param {Filter} filter */
export function meets(row, { topic, grade, words }) {
  if (topic && row.query_id !== topic) return false;
  if (grade === "flagged" && !row.flagged) return false;
  if (grade === "cannot judge" && row.kind === "graded") return false;
  if (/^\d+$/.test(grade) && !(row.kind === "graded" && row.relevance === Number(grade))) return false;
  if (!words.trim()) return true; // to make all texts plain takes long
  const text = plainly(`${row.title} ${row.doc_id} ${row.note ?? ""} ${row.text ?? ""}`);
  return plainly(words)
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** @param {Former} a @param {Former} b */
const isSame = (a, b) => a.kind === b.kind && a.relevance === b.relevance && (a.reason ?? null) === (b.reason ?? null);

/** When an entry was judged in a browser; null for one that came from the server. @param {Entry} entry */
const judgedAt = ({ order }) => (order ? new Date(order / 1000).toISOString() : null);

/** What an entry replaced, newest first. @param {Entry | null} entry @returns {Former[]} */
const chain = (entry) => (entry ? [{ ...entry.decision, judged_at: judgedAt(entry) }, ...chain(entry.was)] : []);

/** @param {Entry} entry @param {Topic[]} topics @returns {Row} */
function rowOf(entry, topics) {
  const { decision, title, unit, was } = entry;
  const topic = topics.find(({ query_id }) => query_id === decision.query_id);
  return {
    ...decision,
    doc_id: decision.doc_id ?? "",
    title,
    topic: topic?.title ?? "",
    note: decision.note ?? null,
    flagged: decision.flagged ?? false,
    judged_at: judgedAt(entry),
    former: chain(was),
    text: unit?.documents[0]?.text,
  };
}

/**
 * All that is to be listed, newest first: the server's answer, and over it what this browser knows that the answer does not.
 *
 * @param {View["state"]} state @param {Row[]} logged @param {Filter} filter @param {boolean} alone without an answer
 */
export function listPast(state, logged, filter, alone) {
  const answered = new Map(logged.map((row) => [idOf(row), row]));
  const undone = state.outbox.filter(({ decision }) => decision.kind === "undone");
  const open = undone.map(({ decision: { query_id, doc_id = "" } }) => pairId(query_id, doc_id));
  const settled = new Set([...state.units.map(({ id }) => id), ...open]);
  const rows = [];
  for (const entry of state.history.toReversed()) {
    // Those that came from the server stand where its answer has them; without an answer they are all there is.
    if (!entry.order && !alone) continue;
    const row = rowOf(entry, state.scope.topics);
    const known = answered.get(idOf(row));
    if (known) row.former = isSame(known, row) ? known.former : [known, ...known.former];
    if (meets(row, filter)) rows.push(row);
    settled.add(idOf(row));
  }
  return [...rows, ...logged.filter((row) => !settled.has(idOf(row)))];
}

/** Fills a filter. Gives its value: the former one, or "" if that is gone. @param {HTMLElement} select @param {string} former @param {string[][]} options */
function fill(select, former, options) {
  const nodes = options.map(([value = "", text = ""]) =>
    make("option", { value, textContent: cut(forward(text), 80) }),
  );
  const chosen = nodes.find(({ value }) => value === former);
  select.replaceChildren(...nodes);
  if (chosen) chosen.selected = true;
  return chosen?.value ?? "";
}

/** A time of today, or a day with its time. @param {string | null | undefined} at */
export function whenOf(at) {
  if (!at) return "";
  const then = new Date(at);
  const now = new Date();
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === now.toDateString()) return time;
  const year = then.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year })} ${time}`;
}

/** @implements {Part} */
export class History {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** @type {Filter} */
    this.filter = { topic: "", grade: "", words: "" };
    /** The server's answers. @type {Row[]} */
    this.logged = [];
    this.isMore = false;
    /** What is asked for. @type {object | null} */
    this.asked = null;
    this.trouble = "";
    /** What is listed. @type {Row[]} */
    this.rows = [];
    /** The pair that is selected. @type {string | null} */
    this.chosen = null;
    /** The rows as they are drawn. */
    this.drawn = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.actions = { history: { run: () => this.open(), panel: "history" } };
    this.clicks = {
      past: (/** @type {HTMLElement} */ { dataset }) => this.show(this.rows[Number(dataset.row)]),
    };
    this.panels = {
      history: {
        node: "historyPanel",
        focus: "past",
        field: "pastWords",
        inField: (/** @type {KeyboardEvent} */ event) => this.react(event, true) ?? null,
        keys: (/** @type {KeyboardEvent} */ event, /** @type {Pressed} */ { key }) =>
          key === "/" ? () => view.node("pastWords").focus() : this.react(event, false),
        render: () => this.draw(),
        left: () => this.leave(),
      },
    };
  }

  /** @param {On} on */
  attach(on) {
    const { view } = this;
    const list = view.node("past");
    on(view.node("pastWords"), "input", () => this.change(PAUSE));
    for (const name of ["pastTopic", "pastGrade"]) on(view.node(name), "change", () => this.change(0));
    on(list, "scroll", () => list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END_PX && this.ask(true), {
      passive: true,
    });
    return undefined;
  }

  open() {
    const { view } = this;
    if (view.panel === "history") return view.setPanel(null);
    if (!view.state.scope.topics)
      return view.card.dispatch({ type: "notice", notice: { code: "nothing-here", urgent: true } });
    Object.assign(this, { chosen: null, trouble: "" });
    this.fillFilters();
    view.setPanel("history");
    view.node("past").scrollTop = 0; // at the newest
    return this.ask();
  }

  leave() {
    clearTimeout(this.timer);
    this.asked = null;
  }

  // ------------------------------------------------------------------------------------------- asking

  /** Fetches the newest judgements, or the next older ones. */
  async ask(older = false) {
    clearTimeout(this.timer);
    if (older && (this.asked || !this.isMore)) return;
    const { topic, grade, words } = this.filter;
    const ask = {
      limit: PAGE,
      ...(topic && { query_id: topic }),
      ...(grade && { grade: /^\d+$/.test(grade) ? Number(grade) : grade }),
      ...(words.trim() && { words: words.trim() }),
      ...(older && { before: this.logged.at(-1)?.id }),
    };
    this.asked = ask;
    this.draw();
    try {
      const { entries, more } = await this.view.card.post("history", ask);
      if (this.asked !== ask) return; // something else is asked for by now
      Object.assign(this, { logged: older ? [...this.logged, ...entries] : entries, isMore: more, trouble: "" });
    } catch (error) {
      if (this.asked !== ask) return;
      this.trouble = causeOf(error);
      if (!older) this.isMore = false;
    }
    this.asked = null;
    this.draw();
  }

  /** Applies a filter: to the known judgements at once, then to the server's answer. @param {number} pause */
  change(pause) {
    const { view } = this;
    const [topic = "", grade = "", words = ""] = ["pastTopic", "pastGrade", "pastWords"].map(
      (name) => view.field(name).value,
    );
    const filter = { topic, grade, words };
    Object.assign(this, { filter, chosen: null, trouble: "", logged: this.logged.filter((row) => meets(row, filter)) });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), pause);
    this.asked = filter; // nothing older until then
    this.draw();
  }

  fillFilters() {
    const { view, filter } = this;
    const here = shownTopic(view);
    const others = view.state.scope.topics.filter((/** @type {Topic} */ topic) => topic !== here);
    filter.topic = fill(view.node("pastTopic"), filter.topic, [
      ["", "All topics"],
      ...(here ? [[here.query_id, `This topic: ${nameOfTopic(here)}`]] : []),
      ...others.map((/** @type {Topic} */ topic) => [topic.query_id, nameOfTopic(topic)]),
    ]);
    filter.grade = fill(view.node("pastGrade"), filter.grade, [
      ["", "All grades"],
      ...view.data.scale.map(({ grade, label }) => [`${grade}`, `${grade} ${label}`]),
      ["cannot judge", "Cannot judge"],
      ["flagged", "Flagged"],
    ]);
    view.field("pastWords").value = filter.words;
  }

  // -------------------------------------------------------------------------------- choosing, opening

  /** @param {KeyboardEvent} event @param {boolean} inField @returns {Reaction | undefined} */
  react({ key }, inField) {
    if (key === "Escape") return () => this.view.setPanel(null);
    if (key === "Enter") return () => this.show(this.rows[this.place]);
    const step = STEPS[key];
    return step === undefined || (inField && !Number.isFinite(step)) ? undefined : () => this.choose(step);
  }

  get place() {
    return this.rows.findIndex((row) => idOf(row) === this.chosen);
  }

  /** @param {number} step */
  choose(step) {
    const { rows } = this;
    const next = Math.max(0, Math.min(rows.length - 1, this.place + step)); // from nothing down to the first
    const row = rows[next];
    if (!row) return;
    this.chosen = idOf(row);
    this.draw();
    if (next >= rows.length - NEAR_END) void this.ask(true);
  }

  /** Opens a judged pair of any topic. @param {Row | undefined} row */
  show(row) {
    if (!row) return this.choose(1);
    this.chosen = idOf(row);
    return lookBack(this.view, row);
  }

  // ------------------------------------------------------------------------------------------ drawing

  draw() {
    const { view } = this;
    if (view.panel !== "history") return;
    const list = view.node("past");
    this.rows = listPast(view.state, this.logged, this.filter, this.trouble !== "");
    const drawn = JSON.stringify(this.rows, (key, value) => (key === "text" ? undefined : value));
    if (this.drawn !== drawn) list.replaceChildren(...this.rows.map((row, i) => this.row(row, i)));
    this.drawn = drawn;
    select(list, list.children[this.place], [list, view.node("pastWords")]);
    view.setHidden("past", !this.rows.length);
    if (this.rows.length && view.active === view.node("historyPanel")) list.focus({ preventScroll: true });
    view.setText("pastSays", this.says());
  }

  says() {
    const n = this.rows.length;
    const { topic, grade, words } = this.filter;
    const found = `${figure(n)}${this.isMore ? "+" : ""} ${plural(n, "judgement")}`;
    const only = `Showing only what this browser knows: ${this.trouble}.`;
    if (this.view.state.fetching) return "Loading the document …";
    if (this.trouble) return n ? `${found}. ${only}` : only;
    if (!n && this.asked) return ONE_MOMENT;
    if (!n) return topic || grade || words.trim() ? "No judgement matches." : "You have not judged any documents yet.";
    return `${found}. ${byInput("Select one with \u2191 \u2193, open it with Enter.", "Tap one to open it.")}`;
  }

  /** @param {Row} past @param {number} i */
  row(past, i) {
    const { view } = this;
    const say = (/** @type {Answer} */ answer) => wordsOf(view, answer);
    const { row, head } = option(`cd-past-${i}`, { do: "past", row: `${i}` }, past.title || past.doc_id);
    head.append(make("span", { className: "cd-past-said cd-apart", textContent: forward(cut(say(past), 120)) }));
    if (past.flagged) head.append(make("span", { className: "cd-badge cd-flag", textContent: "Flagged" }));
    const line = make("div", { className: "cd-past-line" });
    if (past.judged_at) line.append(make("time", { dateTime: past.judged_at, textContent: whenOf(past.judged_at) }));
    line.append(apart("span", cut(past.topic || past.query_id, 120)));
    for (const former of past.former.slice(0, 3)) {
      const words = former.kind === "undone" ? "undone" : `was ${say(former)}`;
      line.append(apart("span", cut([words, whenOf(former.judged_at)].filter(Boolean).join(", "), 120)));
    }
    const body = make("div", { className: "cd-past-body" });
    body.append(head, line);
    if (past.note) body.append(apart("div", cut(past.note, 300), "cd-past-note"));
    row.append(gradeBadge(view, past), body);
    return row;
  }
}
