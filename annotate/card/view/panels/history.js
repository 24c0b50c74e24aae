// The last judgements in a drawer: looked through by topic, grade and words, and opened again.

/** @import { Answers, Entry, Part, PastJudgement, Reaction, Topic, View } from "../types.js" */

import { idOf } from "../../core/kinds/pairs.js";
import { same } from "../../core/state.js";
import { ONE_MOMENT } from "../frame/bar.js";
import { byInput } from "../frame/keys.js";
import { apart, cut, forward, make } from "../frame/nodes.js";
import { figure, plural } from "../frame/phrases.js";
import { gradeBadge, gradeWords, lookBack, wordsOf } from "../units/grades.js";
import { headLine, ListBox } from "../units/list_box.js";
import { answerWords } from "../units/question_words.js";
import { PAUSE } from "./search.js";
import { nameOfTopic, shownTopic } from "./topics.js";

/** Judgements of one answer, and how many rows before the end more are asked for. */
const PAGE = 50;
const NEAR_END = 8;

/** Pixels of the list below what is in sight at which more are asked for. */
const NEAR_END_PX = 600;

/** @type {Record<string, number>} */
const STEPS = { ArrowUp: -1, ArrowDown: 1, PageUp: -6, PageDown: 6, Home: -Infinity, End: Infinity };

/** @typedef {{ kind: string, relevance?: number | null, reason?: string | null, judged_at?: string | null, answers?: Answers }} Former */

/**
 * A judged pair; `former` is what was said before, newest first.
 *
 * @typedef {Omit<Partial<PastJudgement>, "former" | "kind" | "judged_at" | "answers"> & Former & { query_id: string, doc_id: string,
 *           title: string, former: Former[] }} Row
 */

/** @typedef {{ topic: string, grade: string, words: string }} Filter */

/** Without accents and case. @param {string} text */
const plainly = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** True if a judgement meets a filter, as far as this browser can tell. @param {Row} row @param {Filter} filter @param {string | null} text */
export function meets(row, { topic, grade, words }, text = "") {
  if (topic && row.query_id !== topic) return false;
  if (grade === "flagged" && !row.flagged) return false;
  if (grade === "cannot judge" && row.kind === "graded") return false;
  if (/^\d+$/.test(grade) && !(row.kind === "graded" && row.relevance === Number(grade))) return false;
  if (!words.trim()) return true; // to make all texts plain takes long
  const plain = plainly(`${row.title} ${row.doc_id} ${row.note ?? ""} ${text}`);
  return plainly(words)
    .split(/\s+/)
    .every((word) => plain.includes(word));
}

/** @param {Former} a @param {Former} b */
const isSame = (a, b) =>
  a.kind === b.kind &&
  a.relevance === b.relevance &&
  (a.reason ?? null) === (b.reason ?? null) &&
  same(a.answers ?? {}, b.answers ?? {});

/** A judgement that this browser knows of, over the server's row of the pair. @param {Entry} entry @param {Row | undefined} known @param {Topic[]} topics @returns {Row} */
function rowOf({ decision, title, order }, known, topics) {
  const judged_at = order ? new Date(order / 1000).toISOString() : null;
  const topic = topics.find(({ query_id }) => query_id === decision.query_id)?.title ?? "";
  const row = { ...decision, doc_id: decision.doc_id ?? "", title, topic, judged_at };
  return { ...row, former: known ? [...(isSame(known, row) ? [] : [known]), ...known.former] : [] };
}

/**
 * The rows of the list, newest first: judgements of this browser, then the server's answer.
 *
 * @param {View["state"]} state @param {Row[]} logged @param {Filter} filter @param {boolean} alone without an answer
 */
export function listPast(state, logged, filter, alone) {
  const answered = new Map(logged.map((row) => [idOf(row), row]));
  // The server's answer lists what came from the server; without an answer the history does.
  const own = state.history.filter(({ order }) => order || alone).toReversed();
  const undone = state.outbox.filter(({ decision }) => decision.kind === "undone");
  const others = [...own, ...undone].map(({ decision }) => idOf(decision));
  const settled = new Set([...state.units.map(({ id }) => id), ...others]);
  const listed = own.flatMap((entry) => {
    const row = rowOf(entry, answered.get(idOf(entry.decision)), state.scope.topics);
    return meets(row, filter, entry.unit?.documents[0]?.text) ? [row] : [];
  });
  return [...listed, ...logged.filter((row) => !settled.has(idOf(row)))];
}

/** A time of today, or a day with its time. @param {string | null | undefined} at */
export function whenOf(at) {
  if (!at) return "";
  const then = new Date(at);
  const isToday = then.toDateString() === new Date().toDateString();
  return then.toLocaleString("en-GB", { dateStyle: isToday ? undefined : "medium", timeStyle: "short" });
}

/** Fills a filter; the former choice stays while it is there. @param {HTMLInputElement} select @param {string[][]} options */
function fill(select, options) {
  const former = select.value;
  select.replaceChildren(...options.map(([value, text = ""]) => make("option", { value }, cut(forward(text), 80))));
  select.value = options.some(([value]) => value === former) ? former : "";
}

/** @param {View} view @returns {Part} */
export function history(view) {
  const field = view.field("pastWords");
  const topics = view.field("pastTopic");
  const grades = view.field("pastGrade");
  const node = view.node("past");
  /** @type {ListBox<Row>} */
  const list = new ListBox(
    node,
    [node, field],
    "past",
    (row) => idOf(row),
    (row) => drawRow(view, row),
  );
  /** The server's answers. @type {Row[]} */
  let logged = [];
  let isMore = false;
  /** The running request. @type {object | null} */
  let pending = null;
  let trouble = "";
  let timer = 0;

  /** @returns {Filter} */
  const filter = () => ({ topic: topics.value, grade: grades.value, words: field.value.trim() });

  function open() {
    if (!view.state.scope.topics) return view.reply();
    fillFilters();
    [list.chosen, trouble] = [null, ""];
    view.setPanel("history");
    node.scrollTop = 0; // at the newest
    return ask();
  }

  /** Fetches the newest judgements, or the next older ones. */
  async function ask(older = false) {
    clearTimeout(timer);
    if (older && (pending || !isMore)) return;
    const { topic, grade, words } = filter();
    const request = {
      limit: PAGE,
      query_id: topic || undefined,
      grade: /^\d+$/.test(grade) ? Number(grade) : grade || undefined,
      words: words || undefined,
      before: older ? logged.at(-1)?.id : undefined,
    };
    pending = request;
    draw();
    const { answer, cause = "" } = await view.ask("history", request);
    if (pending !== request) return; // something else is asked for by now
    [pending, trouble] = [null, cause];
    if (answer) logged = older ? [...logged, ...answer.entries] : answer.entries;
    isMore = answer?.more ?? (older && isMore);
    draw();
  }

  /** Applies a filter: to the known judgements at once, then to the server's answer. @param {number} pause */
  function change(pause) {
    logged = logged.filter((row) => meets(row, filter()));
    [list.chosen, trouble, pending] = [null, "", {}]; // nothing older until then
    clearTimeout(timer);
    timer = window.setTimeout(ask, pause);
    draw();
  }

  function fillFilters() {
    const here = shownTopic(view);
    const others = view.state.scope.topics.filter((/** @type {Topic} */ topic) => topic !== here);
    const named = others.map((/** @type {Topic} */ topic) => [topic.query_id, nameOfTopic(topic)]);
    const first = here ? [[here.query_id, view.words`This topic: ${nameOfTopic(here)}`]] : [];
    fill(topics, [["", view.words("All topics")], ...first, ...named]);
    const scale = view.data.scale.map(({ grade, label }) => [`${grade}`, `${grade} ${label}`]);
    fill(grades, [
      ["", view.words("All grades")],
      ...scale,
      ["cannot judge", view.words("Cannot judge")],
      ["flagged", "Flagged"],
    ]);
  }

  /** @param {string} key @param {boolean} inField @returns {Reaction | undefined} */
  function react(key, inField) {
    if (key === "Enter") return () => show(list.row());
    const step = STEPS[key];
    return step === undefined || (inField && !Number.isFinite(step)) ? undefined : () => choose(step);
  }

  /** @param {number} step */
  function choose(step) {
    list.step(step);
    draw();
    if (list.at >= list.rows.length - NEAR_END) void ask(true);
  }

  /** Opens a judged pair of any topic. @param {Row | undefined} row */
  function show(row) {
    if (!row) return choose(1);
    list.chosen = idOf(row);
    return lookBack(view, row);
  }

  function draw() {
    if (view.panel !== "history") return;
    list.draw(listPast(view.state, logged, filter(), trouble !== ""));
    if (list.rows.length && view.active === view.node("historyPanel")) node.focus({ preventScroll: true });
    view.setText("pastSays", says());
  }

  function says() {
    const n = list.rows.length;
    const total = `${figure(n)}${isMore ? "+" : ""} ${view.words(plural(n, "judgement"))}. `;
    if (view.state.fetching) return view.words("Loading the document …");
    if (trouble) return `${n ? total : ""}Showing only what this browser knows: ${trouble}.`;
    if (n) return total + byInput("Select one with \u2191 \u2193, open it with Enter.", "Tap one to open it.");
    if (pending) return ONE_MOMENT;
    return view.words(
      Object.values(filter()).some(Boolean) ? "No judgement matches." : "You have not judged any documents yet.",
    );
  }

  return {
    clicks: { past: (row) => show(list.row(row)) },
    panels: {
      history: {
        open,
        focus: "past",
        field: "pastWords",
        inField: ({ key }) => react(key, true),
        keys: (event, { key }) => (key === "/" ? () => field.focus() : react(event.key, false)),
        render: draw,
        left() {
          clearTimeout(timer);
          pending = null;
        },
      },
    },
    attach(on) {
      on(field, "input", () => change(PAUSE));
      for (const select of [topics, grades]) on(select, "change", () => change(0));
      const isNearEnd = () => node.scrollHeight - node.scrollTop - node.clientHeight < NEAR_END_PX;
      on(node, "scroll", () => isNearEnd() && ask(true), { passive: true });
    },
  };
}

/** @param {View} view @param {Row} past */
function drawRow(view, past) {
  const said = make("span", { className: "cd-past-said cd-apart" }, forward(cut(gradeWords(view, past), 120)));
  const flag = past.flagged ? [make("span", { className: "cd-badge cd-flag" }, "Flagged")] : [];
  const time = past.judged_at ? [make("time", { dateTime: past.judged_at }, whenOf(past.judged_at))] : [];
  const former = past.former.slice(0, 3).map((each) => {
    const words = each.kind === "undone" ? "undone" : `was ${wordsOf(view, each)}`;
    return apart("span", cut([words, whenOf(each.judged_at)].filter(Boolean).join(", "), 120));
  });
  const topic = apart("span", cut(past.topic || past.query_id, 120));
  const body = make(
    "div",
    { className: "cd-past-body" },
    headLine(past.title || past.doc_id, said, ...flag),
    make("div", { className: "cd-past-line" }, ...time, topic, ...former),
    ...(past.answers ? [apart("div", cut(answerWords(view, past.answers).join("; "), 300), "cd-past-note")] : []),
    ...(past.note ? [apart("div", cut(past.note, 300), "cd-past-note")] : []),
  );
  return [gradeBadge(view, past), body];
}
