// The scale of grades: its buttons and keys, which of them is marked, and grades in words.

/** @import { Answer, Item } from "../core/types.js" */
/** @import { Part, Source } from "./types.js" */
/** @import { View } from "./view.js" */

import { entryAt, outstanding } from "../core/state.js";
import { apart, labelled, make } from "./nodes.js";

/** A judgement in a few words. @param {View} view @param {Answer} answer */
export function wordsOf({ data: { scale } }, { kind, relevance, reason }) {
  if (kind !== "graded") return reason ? `cannot judge (${reason})` : "cannot judge";
  const known = scale.find(({ grade }) => grade === relevance);
  return known ? `${relevance} ${known.label}` : String(relevance);
}

/** The grade in a box that is the fuller the higher the grade is. @param {View} view @param {Answer} answer */
export function gradeBadge({ data: { scale } }, { kind, relevance }) {
  const grade = kind === "graded" ? (relevance ?? 0) : null;
  const badge = make("span", { className: "cd-grade", textContent: grade === null ? "\u00d7" : String(grade) });
  const most = Math.max(1, ...scale.map((each) => each.grade));
  badge.classList.toggle("cd-grade-none", grade === null);
  badge.style.setProperty("--cd-share", String(Math.min(1, (grade ?? 0) / most)));
  badge.setAttribute("aria-hidden", "true"); // the words say it
  return badge;
}

/**
 * The annotator's judgement of a pair: what this browser knows of it is newer than what the server has answered.
 *
 * @template {Answer} Said
 * @param {View} view @param {string} id @param {Said | null} said
 */
export function standingOf({ card: { kind }, state }, id, said) {
  const entry = state.history[entryAt(kind, state, id)];
  if (entry) return entry.decision;
  const last = outstanding(state).findLast(({ decision }) => kind.subject(decision) === id);
  return last?.decision.kind === "undone" || state.units.some((unit) => unit.id === id) ? null : said;
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

/** The annotator's own key for a grade, beside its digit. @param {number} grade */
function ownCap(grade) {
  const cap = make("kbd", { hidden: true });
  cap.dataset.key = `digit:${grade}`;
  return cap;
}

/** @param {HTMLElement} button @param {boolean} marked @param {boolean} stands */
export function setMark(button, marked, stands) {
  button.setAttribute("aria-pressed", String(marked && stands));
  button.classList.toggle("cd-former", marked && !stands);
}

/** Panels that cover the document, and what must not be clicked behind them. */
const COVERS = new Set(["search", "history"]);
const JUDGES = new Set(["grade", "undo", "skip", "cannot-judge", "back", "forward"]);

/** @implements {Part} */
export class Grades {
  /** @param {View} view @param {string} hint what a grade does, after its words */
  constructor(view, hint = "") {
    this.view = view;
    this.hint = hint;
    this.scale = "";
    this.mark = "";
    this.clicks = { grade: (/** @type {HTMLElement} */ { dataset }) => this.give(Number(dataset.grade), "click") };
  }

  /** @param {number} relevance @param {Source} source */
  give(relevance, source) {
    const { card } = this.view;
    card.dispatch({ type: "decide", answer: { kind: "graded", relevance }, ...card.by(source) });
  }

  /** @param {number} digit @returns {((source: Source) => unknown) | null} */
  digit(digit) {
    const isGrade = this.view.data.scale.some(({ grade }) => grade === digit);
    return isGrade ? (source) => this.give(digit, source) : null;
  }

  /** @param {string} name */
  mayClick(name) {
    const { panel, card } = this.view;
    if (!COVERS.has(panel ?? "") || !JUDGES.has(name)) return true;
    card.say(`Close the ${panel} first: it covers the document.`);
    return false;
  }

  /** A button for each grade, and its key in the list of keys. */
  attach() {
    const { view } = this;
    const { scale } = view.data;
    if (this.scale === JSON.stringify(scale)) return undefined;
    this.scale = JSON.stringify(scale);
    this.mark = "";
    const node = view.node("grades");
    node.style.setProperty("--cd-grades", String(scale.length));
    node.style.setProperty(
      "--cd-grades-narrow",
      String(scale.length <= 4 ? scale.length : Math.ceil(scale.length / 2)),
    );
    node.replaceChildren(
      ...scale.map(({ grade, label, sentence }) => {
        const button = labelled(`${grade}`, label, `${grade} ${sentence}`, { do: "grade", grade: `${grade}` });
        button.title += this.hint;
        button.append(ownCap(grade));
        return button;
      }),
    );
    view.node("gradeKeys").replaceChildren(
      ...scale.flatMap(({ grade, sentence }) => {
        const key = make("dt");
        key.append(make("kbd", { textContent: `${grade}` }), " ", ownCap(grade));
        return [key, apart("dd", sentence)];
      }),
    );
    view.keys.map(); // prints the keys of the new buttons
    return undefined;
  }

  /** What was to be fetched from a panel is on screen now. @param {Item | null} item @param {boolean} turned */
  rendered(item, turned) {
    if (turned && item?.entry && COVERS.has(this.view.panel ?? "")) this.view.setPanel(null);
  }

  /** Marks the grade that is on screen, or was before undo; without anything to grade, the buttons say so. @param {Item | null} item */
  render(item) {
    const { view } = this;
    view.node("grades").classList.toggle("cd-idle", item === null || view.panel === "search");
    const decision = item?.entry?.decision ?? item?.unit.before;
    const mark = !decision ? "" : decision.kind === "graded" ? String(decision.relevance) : "cannot judge";
    const stands = Boolean(item?.entry);
    if (this.mark === `${mark} ${stands}`) return;
    this.mark = `${mark} ${stands}`;
    for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (view.node("grades").children))
      setMark(button, button.dataset.grade === mark, stands);
    setMark(view.node("cannotJudge"), mark === "cannot judge", stands);
  }
}
