// Panels of the tasks of generated answers: the nugget next to its answer, and the answer around a sentence.

/** @import { Unit } from "../../core/types.js" */
/** @import { DrawnDocument, Entry, Part, View } from "../types.js" */

import { topicOf } from "../../core/kinds/counts.js";
import { same } from "../../core/state.js";
import { bestPassages } from "../document/best_passages.js";
import { apart, cut, make } from "../frame/nodes.js";
import { gradeBadge, gradeWords, lookBack } from "../units/grades.js";
import { nameOfTopic, shownTopic } from "./topics.js";

/** Milliseconds after a key until the context is drawn, so that the judged text comes first. */
const AFTER_FRAMES = 30;

/** Maximum number of characters of a nugget in the list of nuggets of the answer. */
const SHORT = 90;

export const NUGGET_ASSIGNMENT = "nugget-assignment";
export const SUPPORT = "support";

/** Returns the parts of a task. @param {View} view @param {DrawnDocument} drawn @returns {Part[]} */
export function answerTask(view, drawn) {
  const { task } = view.data;
  if (task === undefined) return [];
  view.node("frame").dataset.task = task;
  if (task === SUPPORT) return [aroundSentence(view), bestPassages(view, drawn)];
  view.node("topic").ariaLabel = "Nugget";
  view.node("scroller").ariaLabel = "Answer";
  return [nuggets(view)];
}

/** Returns the parts for adjudication, where a nugget is the title of its answer. @param {View} view @returns {Part[]} */
export function adjudicatedTask(view) {
  if (view.data.task !== undefined) view.node("frame").dataset.task = view.data.task;
  return view.data.task === SUPPORT ? [aroundSentence(view)] : [];
}

/** Returns the id of a nugget without its version. @param {string} docId */
const withoutVersion = (docId) => docId.replace(/\.v\d+$/, "");

/**
 * Returns the nuggets of the answer on screen in their order, each with its judgement or null.
 *
 * @param {Pick<View, "state">} view @param {Unit} unit
 * @returns {{ docId: string, title: string, entry: Entry | null }[]}
 */
export function nuggetsOf({ state }, { queryId, documents: [doc] }) {
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  for (const entry of state.history)
    if (entry.decision.query_id === queryId) entries.set(entry.decision.doc_id ?? "", entry);
  const listed = doc?.nuggets ?? [];
  return listed.map(({ doc_id: docId, title }) => ({ docId, title, entry: entries.get(docId) ?? null }));
}

/** Draws the question above the answer, and the other nuggets below the current one. @param {View} view @returns {Part} */
function nuggets(view) {
  const list = view.node("nuggetList");
  let timer = 0;
  /** What the list was drawn from. @type {unknown[]} */
  let drawn = [];

  function drawList() {
    timer = 0;
    const { item } = view;
    const current = withoutVersion(item?.unit.documents[0]?.doc_id ?? "");
    const all = item ? nuggetsOf(view, item.unit) : [];
    const next = [current, all.map(({ docId, title, entry }) => [docId, title, entry?.decision])];
    if (same(next, drawn)) return;
    drawn = next;
    view.setHidden("otherNuggets", all.length < 2);
    list.replaceChildren(
      ...all.map(({ docId, title, entry }) => {
        const line = [apart("span", cut(title, SHORT))];
        const badge = entry ? gradeBadge(view, entry.decision) : make("span", {});
        const isCurrent = withoutVersion(docId) === current;
        const row = make("li", isCurrent ? { ariaCurrent: "true" } : {});
        if (!entry || isCurrent) row.append(badge, ...line);
        else {
          const ariaLabel = `${title}: ${gradeWords(view, entry.decision)}`;
          const dataset = { do: "open-nugget", doc: docId };
          row.append(make("button", { type: "button", title, ariaLabel, dataset }, badge, ...line));
        }
        return row;
      }),
    );
  }

  return {
    clicks: {
      "open-nugget"({ dataset }) {
        const { item } = view;
        const found = item && nuggetsOf(view, item.unit).find(({ docId }) => docId === dataset.doc);
        if (found?.entry) lookBack(view, { ...found.entry.decision, doc_id: found.docId, title: found.title });
      },
    },
    render(item) {
      const topic = shownTopic(view);
      view.setHidden("nugget", !item);
      view.setHidden("askedOf", !item || !topic);
      if (topic) {
        const { title, description } = topic;
        view.setText("askedOfTitle", title);
        view.setLine("askedOfWords", description === title ? "" : description);
      }
      if (!timer) timer = window.setTimeout(drawList, AFTER_FRAMES);
    },
  };
}

/** Draws the answer around the sentence that stands above it. @param {View} view @returns {Part} */
function aroundSentence(view) {
  const [around, need] = [view.node("around"), view.node("need")];
  const sentence = /** @type {HTMLElement} */ (need.querySelector("h2"));
  /** The sentences as they are drawn, and the marked one. @type {HTMLElement[]} */
  let drawn = [];
  /** @type {HTMLElement | undefined} */
  let marked;
  let [texts, timer] = ["", 0];

  /** Draws the sentences of another answer. @param {string[]} sentences */
  function draw(sentences) {
    if (texts === sentences.join("\n")) return;
    texts = sentences.join("\n");
    drawn = sentences.map((text) => apart("span", text));
    around.replaceChildren(...drawn.flatMap((part) => [part, " "]));
  }

  /** Marks the sentence in its answer, and lays out the one that comes next. */
  function settle() {
    timer = 0;
    mark();
    const { scope } = view.state;
    const next = topicOf(scope, scope.ahead?.[0]?.queryId); // in adjudication nothing is loaded ahead
    if (next) view.setText("topicTitleAhead", nameOfTopic(next));
  }

  /** Marks the sentence in its answer, and brings it into sight. */
  function mark() {
    const current = drawn[view.item?.unit.documents[0]?.answer?.at ?? -1];
    if (current === marked) return;
    marked?.classList.remove("cd-current");
    marked?.removeAttribute("aria-current");
    current?.classList.add("cd-current");
    current?.setAttribute("aria-current", "true");
    marked = current;
    if (!current) return;
    const top = current.getBoundingClientRect().top - need.getBoundingClientRect().top + need.scrollTop;
    const room = need.clientHeight - sentence.offsetHeight - current.offsetHeight;
    need.scrollTop = top - sentence.offsetHeight - Math.max(0, room / 2);
  }

  return {
    render(item) {
      const answer = item?.unit.documents[0]?.answer;
      view.setHidden("around", !answer);
      if (!answer) return;
      draw(answer.sentences);
      if (!timer) timer = window.setTimeout(settle, AFTER_FRAMES);
    },
  };
}
