// Buttons of answers: how they are laid out, and which of them is marked.

/** @import { Item, View } from "../types.js" */

import { labelled, make } from "../frame/nodes.js";

/** Answers beyond which they scroll where there is no room for them. */
const MANY = 10;

/** Labels longer than this (characters) get a third of the bar, if no more than MOST_LONG answers share it. */
const LONG = 14;
const MOST_LONG = 9;

/** As many grades have one digit each. */
export const ONE_DIGIT = 10;

/**
 * Marks the answer of the decision on screen, or of one that does not stand; "cannot judge" has its own button.
 *
 * @param {View} view @param {Item | null} item @param {HTMLElement[]} buttons @param {string | undefined} current
 */
export function markAnswers(view, item, buttons, current, stands = Boolean(item?.entry)) {
  for (const button of [...buttons, view.node("cannotJudge")]) {
    const isCurrent = (button.dataset.grade ?? button.dataset.do) === current?.replace(" ", "-");
    button.ariaPressed = String(isCurrent && stands);
    button.classList.toggle("cd-former", isCurrent && !stands);
  }
}

/** Answers beside one another, in two lines where it is narrow. @param {HTMLElement} node @param {number} columns */
export function setColumns(node, columns, narrow = columns) {
  node.style.setProperty("--cd-grades", String(columns));
  node.style.setProperty("--cd-grades-narrow", String(narrow));
}

/**
 * Lays out answers beside one another: in as many columns as there is room for, also on a narrow screen.
 *
 * @param {HTMLElement} node @param {string[]} labels @param {boolean} isScale whether they are grades
 */
export function layOut(node, labels, isScale) {
  const n = labels.length;
  const isLong = !isScale && n <= MOST_LONG && labels.some((label) => label.length > LONG);
  const rows = isScale ? (n <= ONE_DIGIT ? 1 : 2) : n <= 5 ? 1 : n <= 8 ? 2 : n <= 15 ? 3 : 4;
  const narrow = n <= 4 ? n : isScale ? Math.ceil(n / (n <= ONE_DIGIT ? 2 : 3)) : n <= 6 ? 3 : 4;
  const columns = Math.ceil(n / rows);
  setColumns(node, isLong ? Math.min(columns, 3) : columns, isLong ? Math.min(narrow, 3) : narrow);
  node.classList.toggle("cd-many", n > MANY);
  node.classList.toggle("cd-dense", isScale && n > ONE_DIGIT);
}

/**
 * The button of an answer, with the annotator's own key for it beside its digits. Among many grades, a label that only
 * repeats the number is left out where the key cap says it.
 *
 * @param {number} number @param {string} label @param {string} sentence @param {Record<string, string>} data @param {boolean} isDense
 */
export function answerButton(number, label, sentence, data, isDense) {
  const repeats = isDense && label === `Grade ${number}`;
  const words = repeats ? `${number}` : label;
  const button = labelled(`${number}`, words, `${number} ${sentence}`, { ...data, number: `${number}` });
  if (repeats) button.lastElementChild?.classList.add("cd-touched");
  button.append(make("kbd", { hidden: true, dataset: { key: `digit:${number}` } }));
  return button;
}
