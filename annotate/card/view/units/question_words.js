// Further questions and their answers in words, and the numbers of the answers.

/** @import { Answers, AnswerValue, CardData, Item, Question, View } from "../types.js" */

import { placeOf } from "../../core/questions.js";
import { join } from "../frame/phrases.js";

/** The number of an answer on its key: that of a grade itself, others are numbered from 1. @param {Question} question @param {number} i */
export const numberOf = ({ kind, answers }, i) => (kind === "grades" ? Number(answers[i]?.value) : i + 1);

/** @param {Question} question */
export const numbersOf = (question) => question.answers.map((_, i) => numberOf(question, i));

/** The answer with a number. @param {Question} question @param {number} number */
export const answerWith = (question, number) => question.answers.find((_, i) => numberOf(question, i) === number);

/** Numbers that a key can stand for: those of the grades and of the answers. @param {CardData} data */
export function keyNumbers({ scale, questions = [] }) {
  const numbers = [...scale.map(({ grade }) => grade), ...questions.flatMap(numbersOf)];
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** An answer in a few words: the labels of what was chosen. @param {Question | undefined} question @param {AnswerValue} value */
function labelsOf(question, value) {
  const labels = [value].flat().map((each) => {
    const label = question?.answers.find((answer) => answer.value === each)?.label ?? `${each}`;
    return question?.kind === "grades" && label !== `${each}` ? `${each} ${label}` : label;
  });
  return labels.length ? join(labels) : "none";
}

/** The answers of a judgement in words, in the order of the questions; those to removed questions come last. @param {View} view @param {Answers | undefined} answers @returns {string[]} */
export function answerWords({ data: { questions = [] } }, answers = {}) {
  const known = questions.map(({ name }) => name);
  const names = [...known, ...Object.keys(answers).filter((name) => !known.includes(name))];
  return names.flatMap((name) => {
    const value = answers[name];
    const question = questions.find((each) => each.name === name);
    return value === undefined ? [] : `${name}: ${labelsOf(question, value)}`;
  });
}

/** The judgement on screen that lacks an answer, in a few words; "" if there is none. @param {View} view @param {Item | null} item */
export function incompleteWords(view, item) {
  if (!item?.unit.said || item.entry) return "";
  return view.face.words(view, { uuid: null, query_id: item.unit.queryId, ...item.unit.said });
}

/** The question on screen for screen readers. @param {View} view @param {Item} item */
export function heardQuestion(view, item) {
  const { question } = item;
  if (!question) return "";
  const [at, all] = placeOf(view.state, item);
  const said = incompleteWords(view, item);
  const lead = said && view.words`An answer to your judgement is missing: ${said}. `;
  const answers = question.answers.map(({ label }, i) => `${numberOf(question, i)} ${label}`);
  return `${lead}Question ${at} of ${all}: ${question.sentence} ${join(answers, "or")}`;
}
