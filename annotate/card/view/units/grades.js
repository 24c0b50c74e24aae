// The scale of grades: its buttons and keys, which of them is marked, and grades in words.

/** @import { Answer, Item, Part, Source, View } from "../types.js" */

import { unfinishedOf } from "../../core/questions.js";
import { entryOf, outstanding } from "../../core/state.js";
import { apart, make } from "../frame/nodes.js";
import { answerButton, layOut, markAnswers, ONE_DIGIT } from "./answers.js";
import { answerWords } from "./question_words.js";

/** A judgement in a few words, with its answers to further questions. @param {View} view @param {Answer} answer */
export const wordsOf = (view, answer) => [gradeWords(view, answer), ...answerWords(view, answer.answers)].join("; ");

/** The grade of a judgement in a few words. @param {View} view @param {Answer} answer */
export function gradeWords({ data: { scale }, words }, { kind, relevance, reason }) {
  if (kind !== "graded") return words("cannot judge") + (reason ? ` (${reason})` : "");
  const known = scale.find(({ grade }) => grade === relevance);
  return known ? `${relevance} ${known.label}` : String(relevance);
}

/** The grade in a box that is the fuller the higher the grade is. @param {View} view @param {Answer} answer */
export function gradeBadge({ data: { scale } }, { kind, relevance }) {
  const grade = kind === "graded" ? (relevance ?? 0) : null;
  const className = grade === null ? "cd-grade cd-grade-none" : "cd-grade";
  const badge = make("span", { className, ariaHidden: "true" }, grade === null ? "\u00d7" : `${grade}`); // the words say it
  const most = Math.max(1, ...scale.map((each) => each.grade));
  badge.style.setProperty("--cd-share", String(Math.min(1, (grade ?? 0) / most)));
  return badge;
}

/**
 * The annotator's judgement of a pair: what this browser knows of it is newer than what the server has answered.
 *
 * @template {Answer} Said
 * @param {View} view @param {string} id @param {Said | null} said
 */
export function standingOf({ card: { kind }, state }, id, said) {
  const entry = entryOf(kind, state, id);
  if (entry) return entry.decision;
  const last = outstanding(state).findLast(({ decision }) => kind.subject(decision) === id);
  if (last?.decision.kind === "undone") return null;
  const open = state.units.find((unit) => unit.id === id);
  return open && !open.said ? null : said;
}

/**
 * Looks back at a judgement, which may have to be fetched; the panel that it was found in is closed.
 *
 * @param {View} view @param {Answer & { query_id: string, doc_id: string, title: string }} found
 */
export function lookBack(view, { query_id, doc_id, title, kind, relevance = null, reason = null }) {
  if (view.state.fetching !== null) return;
  const decision = { uuid: null, query_id, doc_id, kind, relevance, reason };
  view.card.dispatch({ type: "open", decision, title: title || doc_id });
  if (view.panel && view.state.fetching === null) view.setPanel(null);
}

/** Panels that cover the document, and what must not be clicked behind them. */
const COVERS = new Set(["search", "history"]);
const ANSWERS = ["answer", "pass-question", "clear-answer", "step-back"];
const JUDGES = new Set(["grade", "undo", "skip", "cannot-judge", "back", "forward", ...ANSWERS]);

/** @param {View} view @param {string} hint what a grade does, after its words @returns {Part} */
export function grades(view, hint = "") {
  const node = view.node("grades");
  let drawn = "";
  /** @type {unknown[]} */
  let marked = [];
  /** @param {number} relevance @param {Source} source */
  const give = (relevance, source) => view.decide({ kind: "graded", relevance }, source);
  /** The annotator's own key for a grade, beside its digit. @param {number} grade */
  const ownCap = (grade) => make("kbd", { hidden: true, dataset: { key: `digit:${grade}` } });

  return {
    clicks: { grade: ({ dataset }) => give(Number(dataset.grade), "click") },

    mayClick(name) {
      if (!COVERS.has(view.panel ?? "") || !JUDGES.has(name)) return true;
      view.card.say(`Close the ${view.panel} first: it covers the document.`);
      return false;
    },

    /** A button for each grade, and its key in the list of keys. */
    attach() {
      const { scale } = view.data;
      if (drawn === JSON.stringify(scale)) return undefined;
      drawn = JSON.stringify(scale);
      marked = [];
      layOut(
        node,
        scale.map(({ label }) => label),
        true,
      );
      const isDense = scale.length > ONE_DIGIT;
      const buttons = scale.map(({ grade, label, sentence }) => {
        const button = answerButton(grade, label, sentence, { do: "grade", grade: `${grade}` }, isDense);
        button.title += view.words(hint);
        return button;
      });
      node.replaceChildren(...buttons);
      const lines = scale.flatMap(({ grade, sentence }) => [
        make("dt", {}, make("kbd", {}, `${grade}`), " ", ownCap(grade)),
        apart("dd", sentence),
      ]);
      view.node("gradeKeys").replaceChildren(...lines);
      view.keys.map(); // prints the keys of the new buttons
    },

    /** Marks the grade that is on screen, or was before undo; without anything to grade, the buttons say so. */
    render(item) {
      const isIdle = item === null || view.panel === "search";
      node.classList.toggle("cd-idle", isIdle);
      view.node("choices").classList.toggle("cd-idle", isIdle);
      const begun =
        item && view.state.questions.length ? unfinishedOf(view.state, item.unit, item.entry, item.subject) : null;
      const decision = begun ?? item?.entry?.decision ?? item?.unit.before;
      const stands = item?.entry !== null && !begun;
      if (marked[0] === decision && marked[1] === stands) return;
      marked = [decision, stands];
      const what = begun ? "graded" : /** @type {Answer | undefined} */ (decision)?.kind;
      const current = what === "graded" ? String(decision?.relevance) : what;
      const buttons = /** @type {HTMLElement[]} */ ([...node.children]);
      for (const { dataset } of buttons) {
        if (begun) dataset.mark = "chosen";
        else delete dataset.mark;
      }
      markAnswers(view, item, buttons, current, Boolean(item?.entry) && !begun);
    },

    /** Closes the panel once the unit that was fetched from it is on screen. */
    rendered(item, turned) {
      if (turned && item?.entry && COVERS.has(view.panel ?? "")) view.setPanel(null);
    },
  };
}
