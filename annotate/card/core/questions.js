// Further questions of a judgement: which apply, which one is on screen, and what was answered.

/** @import { Answers, AnswerValue, Entry, Item, Question, State, Unfinished, Unit } from "./types.js" */

/** The further questions that follow a grade, in their order. @param {Question[]} questions @param {number} relevance */
export const askedAt = (questions, relevance) =>
  questions.filter(({ from, to }) => (from === null || relevance >= from) && (to === null || relevance <= to));

/** Whether a question waits to be asked for in a topic: it has to be answered in others only. @param {Question} question @param {string} queryId */
export const isOnRequest = ({ required_in }, queryId) => required_in !== undefined && !required_in.includes(queryId);

/** Whether a question has to be answered in a topic. @param {Question} question @param {string} queryId */
export const isRequired = (question, queryId) => question.required && !isOnRequest(question, queryId);

/**
 * The questions of a judgement that was begun, in their order: without those on request, unless they were asked for.
 *
 * @param {Question[]} questions @param {Pick<Unfinished, "relevance" | "asks">} unfinished @param {string} queryId
 */
export const shownAt = (questions, { relevance, asks = false }, queryId) =>
  askedAt(questions, relevance).filter((question) => asks || !isOnRequest(question, queryId));

/** An answer if the question still has it; tags in its order, without those that it no longer has. @param {Question} question @param {AnswerValue | undefined} value @returns {AnswerValue | undefined} */
export function soundAnswer({ kind, answers }, value) {
  const isKnown = (/** @type {unknown} */ each) => answers.some((answer) => answer.value === each);
  if (kind !== "tags") return isKnown(value) ? value : undefined;
  if (!Array.isArray(value)) return undefined;
  const tags = answers.flatMap((answer) => value.filter((tag) => tag === answer.value));
  return tags.length || !value.length ? tags : undefined;
}

/** The first question without an answer of those that have to be answered in a topic. @param {Question[]} asked @param {Answers} answers @param {string} queryId */
const firstMissing = (asked, answers, queryId) =>
  asked.find(
    (question) => isRequired(question, queryId) && soundAnswer(question, answers[question.name]) === undefined,
  );

/**
 * The judgement that was begun on a unit, or is to be completed; null for none.
 *
 * @param {State} state @param {Unit} unit @param {Entry | null} entry @param {string} subject @returns {Unfinished | null}
 */
export function unfinishedOf({ drafts, questions }, { said, queryId }, entry, subject) {
  const begun = drafts[subject]?.unfinished;
  if (typeof begun?.relevance === "number" && begun.answers) return begun; // another edition may have stored it
  if (entry || typeof said?.relevance !== "number") return null;
  const { relevance, answers = {} } = said;
  const at = firstMissing(askedAt(questions, relevance), answers, queryId)?.name ?? null;
  return { relevance, answers, at, fills: true };
}

/**
 * The further question on screen. If it was removed meanwhile, the first that is missing; null for the grade.
 *
 * @param {State} state @param {Unfinished | null} unfinished @param {string} queryId @returns {Question | null}
 */
export function questionOn({ questions }, unfinished, queryId) {
  if (!unfinished || unfinished.at === null) return null;
  const asked = askedAt(questions, unfinished.relevance);
  return asked.find(({ name }) => name === unfinished.at) ?? firstMissing(asked, unfinished.answers, queryId) ?? null;
}

/**
 * The question after another one; null if all are answered.
 *
 * @param {Question[]} asked @param {Question} question @param {Unfinished} unfinished @param {string} queryId @returns {Question | null}
 */
export function questionAfter(asked, question, { answers, fills = false }, queryId) {
  const next = fills ? undefined : asked[asked.indexOf(question) + 1];
  return next ?? firstMissing(asked, answers, queryId) ?? null;
}

/** The further question before this one; null for the grade. @param {Question[]} asked @param {Question} question */
export const questionBefore = (asked, question) => asked[asked.indexOf(question) - 1] ?? null;

/** The answers to what was asked, in the order of the questions. @param {Question[]} asked @param {Answers} answers @returns {Answers} */
export function collected(asked, answers) {
  const given = asked.map((question) => [question.name, soundAnswer(question, answers[question.name])]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/**
 * Returns, for adjudication, the answer or the tags that all asked annotators gave; undefined without any.
 *
 * @param {Unit} unit @param {Question} question
 */
function agreedAnswer({ opinions = [] }, question) {
  const asked = opinions.filter(({ relevance }) => relevance !== null && askedAt([question], relevance).length);
  const given = asked.map(({ answers }) => soundAnswer(question, answers?.[question.name]));
  if (given.every((each) => JSON.stringify(each) === JSON.stringify(given[0]))) return given[0];
  const [first = [], ...others] = given.map((each) => (Array.isArray(each) ? each : []));
  const common = first.filter((tag) => others.every((tags) => tags.includes(tag)));
  return common.length ? common : undefined;
}

/**
 * The selected answer to the question on screen: given now or, until then, in the decision that this one replaces; for
 * adjudication also what annotators agree on.
 *
 * @param {State} state @param {Item} item @returns {AnswerValue | undefined}
 */
export function selectedAnswer(state, { unit, entry, subject, question }) {
  if (!question) return undefined;
  const { answers = {} } = unfinishedOf(state, unit, entry, subject) ?? {};
  const former = (entry?.decision ?? unit.before)?.answers;
  const given = [answers, former].map((each) => soundAnswer(question, each?.[question.name]));
  return given[0] ?? given[1] ?? agreedAnswer(unit, question);
}

/** The place of the question on screen among those asked, from 1, and their number. @param {State} state @param {Item} item @returns {[number, number]} */
export function placeOf(state, { unit, entry, subject, question }) {
  const unfinished = unfinishedOf(state, unit, entry, subject) ?? { relevance: 0 };
  const asked = shownAt(state.questions, unfinished, unit.queryId);
  return [question ? asked.indexOf(question) + 1 : 0, asked.length];
}

/**
 * What typed digits mean among numbers: one of them, more digits to come, or nothing.
 *
 * @param {number[]} numbers @param {string} typed
 */
export function readDigits(numbers, typed) {
  const names = numbers.map(String);
  const isOne = names.includes(typed);
  const isMore = names.some((name) => name.length > typed.length && name.startsWith(typed));
  return { number: isOne ? Number(typed) : null, waits: isMore };
}
