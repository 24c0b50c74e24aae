// Topics of the card for grades: the open one, and when another one is opened.

/** @import { TopicsAnswer } from "../../wire.d.ts" */
/** @import { Doc, GradeScope, Stored, LoopScope, State, SyncContext, Topic, TopicScope, Turn, Unit } from "../types.js" */

import { NO_VERSION, outstanding } from "../state.js";
import { isDone, topicOf } from "./counts.js";
import { NO_LOOP } from "./loop_order.js";
import { dropFromHistory, idOf, pairUnit } from "./pairs.js";

/** Values that are unknown for a topic that was just opened. */
const UNKNOWN = { nextTopic: null, budget: "", acrossTopics: false, chosen: false, why: null, ...NO_LOOP };

/** @param {Stored} stored @returns {TopicScope & LoopScope} */
export const initialTopics = ({ topic = null, last = null }) => ({
  ...UNKNOWN,
  topics: null,
  topic: null,
  visit: 0,
  requestedTopic: null,
  here: topic,
  last,
  tried: [],
  inQualification: false,
  topicsDue: false,
  recounts: false,
  all: null,
  apart: {},
  ahead: [],
  journey: 0,
});

/**
 * The topic in which the server found work; otherwise the next topic with documents left, searched after the open one and
 * then from the start. Topics to judge before the others take precedence.
 *
 * @param {State<GradeScope>} state @returns {Topic | null}
 */
export function nextUnfinished(state) {
  const { nextTopic, topic, topics } = state.scope;
  const known = topicOf(state.scope, nextTopic);
  if (known) return known;
  const all = topics ?? [];
  const at = all.findIndex(({ query_id }) => query_id === topic);
  const left = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))].filter((each) => !isDone(state, each));
  return left.find(({ first }) => first) ?? left[0] ?? null;
}

/** @param {Turn<GradeScope>} turn @param {string} queryId */
export function openTopic(turn, queryId) {
  const { state } = turn;
  const { scope } = state;
  const taken = state.units.filter((unit) => unit.taken); // what was searched for is there when the topic is again
  const all = scope.topic === null || !taken.length ? scope.apart : { ...scope.apart, [scope.topic]: taken };
  const { [queryId]: waiting = [], ...apart } = all;
  const { journey, visit } = scope;
  Object.assign(scope, { ...UNKNOWN, apart, ahead: [], topic: queryId, visit: visit + 1, journey: journey + 1 });
  const version = waiting.length ? NO_VERSION : state.version;
  Object.assign(state, { units: waiting, version, exhausted: false, look: null, wantsRecent: true });
  turn.timer("look", null);
  turn.store("topic", queryId);
}

/** @param {Turn<GradeScope>} turn @param {string} queryId @param {boolean} chosen */
export function changeTopic(turn, queryId, chosen) {
  if (!topicOf(turn.state.scope, queryId)) return;
  openTopic(turn, queryId);
  Object.assign(turn.state.scope, { tried: [], chosen, inQualification: false });
  turn.state.notice = null;
  turn.state.entered = queryId;
}

/**
 * Opens another topic without being asked to, and says why.
 *
 * @param {Turn<GradeScope>} turn @param {string} queryId @param {string} code @param {{ title?: string, words?: string }} details
 */
export function bringTo(turn, queryId, code, details = {}) {
  const { state } = turn;
  if (!topicOf(state.scope, queryId)) {
    state.scope.topicsDue = true; // it is new since they were fetched
    state.due = true;
    return;
  }
  openTopic(turn, queryId);
  turn.notice(code, details);
  state.scope.why = state.notice;
}

/** The topic of the newest judgement that this browser knows of. @param {Turn<GradeScope>} turn @param {string} queryId */
export function keepLast(turn, queryId) {
  if (turn.state.scope.last === queryId) return;
  turn.state.scope.last = queryId;
  turn.store("last", queryId);
}

/** @param {Turn<GradeScope>} turn @param {TopicsAnswer} answer */
export function takeTopics(turn, { topics: sent, questions = [], last: newest, work }) {
  const topics = sent.map((topic) => {
    const description = topic.asks === undefined ? undefined : questions[topic.asks];
    return description === undefined ? topic : { ...topic, description };
  });
  const { state } = turn;
  const { scope } = state;
  const { recounts } = scope;
  Object.assign(scope, { topics, topicsDue: false, recounts: false });
  const current = topicOf(scope, scope.topic);
  // An annotator who comes back to a finished topic is taken to one with documents left.
  if (current && (recounts || scope.requestedTopic !== null || !isDone(state, current))) return;
  // If the server's newest judgement is in another topic than the newest that this browser knew of, then another device
  // has been used since, and its topic is the newer one.
  const isNewer = newest !== null && newest !== scope.last;
  const last = topicOf(scope, scope.here === null || isNewer ? newest : scope.here);
  if (newest !== null) keepLast(turn, newest);
  const first = topicOf(scope, work) ?? topics.find((topic) => !isDone(state, topic)) ?? topics[0];
  const requestedTopic = topicOf(scope, scope.requestedTopic);
  const start = requestedTopic ?? (last && !isDone(state, last) ? last : first);
  if (!start) return;
  openTopic(turn, start.query_id);
  scope.chosen = start === requestedTopic;
  if (scope.chosen) state.entered = start.query_id;
}

/**
 * If the open topic has no document for the annotator, opens another topic that has one, with a notice; if topics change
 * often, the notice is only the topic's name. The open topic stays if the annotator chose it or has finished it. If it is
 * finished and no topic has a document, fetches the counts again: others or a stopping rule may have changed them. Topics
 * that are sentences follow each other at once.
 *
 * @param {Turn<GradeScope>} turn @param {any} answer
 */
export function goWhereWorkIs(turn, answer) {
  const { documents, next, budget = "", across_topics: acrossTopics = false, goes_on: goesOn = false } = answer;
  const { state } = turn;
  const { scope } = state;
  if (documents.some((/** @type {Doc} */ doc) => !doc.qualification)) scope.inQualification = false;
  const idle = turn.item === null && !turn.waiting;
  if (!idle || documents.length) Object.assign(scope, { tried: [], chosen: false });
  Object.assign(scope, { nextTopic: next ?? null, budget, acrossTopics });
  const done = isDone(state, topicOf(scope, scope.topic));
  if (next === null && idle && done && !documents.length) Object.assign(scope, { topicsDue: true, recounts: true });
  if (!next || !idle || scope.chosen || (done && !scope.inQualification && !goesOn)) return;
  scope.tried = [...scope.tried, scope.topic ?? ""];
  if (goesOn && topicOf(scope, next)) goOn(turn, next);
  else if (acrossTopics) bringTo(turn, next, "other-topic", { title: topicOf(scope, next)?.title || next });
  else bringTo(turn, next, "next-topic", { words: budget, ...(done && { done }) });
}

/** The answer that a sentence is in, by the ids of the task of support. @param {string | null} queryId */
const answerOf = (queryId) => queryId?.replace(/\.s\d+$/, "");

/**
 * Opens the next answer or sentence, with what was loaded ahead of it; that of another answer waits for a key.
 *
 * @param {Turn<GradeScope>} turn @param {string} queryId
 */
function goOn(turn, queryId) {
  const { state } = turn;
  const { ahead, journey } = state.scope;
  const at = ahead.findIndex((each) => each.queryId === queryId);
  const isSame = answerOf(state.entered) === answerOf(queryId);
  const { wantsRecent } = state;
  openTopic(turn, queryId);
  if (isSame) Object.assign(state, { entered: queryId, wantsRecent }); // the history has the rest of the answer
  const next = ahead[at];
  if (!next) return;
  const decided = [...state.history, ...outstanding(state)]
    .map(({ decision }) => decision)
    .filter(({ query_id }) => query_id === queryId);
  const done = new Set(decided.map(idOf));
  for (const decision of decided) if (decision.kind === "undone") done.delete(idOf(decision));
  const held = new Set(state.units.map(({ id }) => id));
  state.units = [...state.units, ...next.units.filter(({ id }) => !held.has(id) && !done.has(id))];
  state.exhausted = next.all;
  Object.assign(state.scope, { ahead: ahead.slice(at + 1), journey });
}

/** Goes on to what was loaded ahead when nothing is left of the open topic, unless the annotator chose that. @param {Turn<GradeScope>} turn */
export function goAhead(turn) {
  const { state } = turn;
  const { scope } = state;
  const isOver = () => state.exhausted || isDone(state, topicOf(scope, scope.topic));
  while (scope.ahead[0] && !state.units.length && !state.look && !scope.chosen && isOver())
    goOn(turn, scope.ahead[0].queryId);
}

/** Goes back to a topic whose decision was undone; what was open comes next again. @param {Turn<GradeScope>} turn @param {string} queryId */
export function goBack(turn, queryId) {
  const { state } = turn;
  const { ahead, journey, topic } = state.scope;
  const units = state.units.filter((unit) => !unit.taken);
  const left = topic === null || !units.length ? [] : [{ queryId: topic, units, all: state.exhausted }];
  openTopic(turn, queryId);
  if (!ahead.length) return;
  Object.assign(state.scope, { ahead: [...left, ...ahead].filter((each) => each.queryId !== queryId), journey });
}

/**
 * Takes documents of the topics that come next, unless the annotator has gone elsewhere.
 *
 * @param {Turn<GradeScope>} turn @param {SyncContext} context @param {any} answer @param {Set<string>} judged
 */
export function takeAhead(turn, { journey }, answer, judged) {
  const { scope } = turn.state;
  if (!answer.ahead || journey !== scope.journey) return;
  if (answer.changed) scope.ahead = [];
  const held = new Set([scope.topic, ...scope.ahead.map(({ queryId }) => queryId)]);
  const fresh = [];
  for (const { query_id: queryId, documents, all } of answer.ahead) {
    if (held.has(queryId)) continue;
    held.add(queryId);
    const loaded = documents.map((/** @type {Doc} */ each) => pairUnit(queryId, each));
    fresh.push({ queryId, units: loaded.filter((/** @type {Unit} */ { id }) => !judged.has(id)), all });
  }
  dropFromHistory(
    turn,
    fresh.flatMap(({ units }) => units),
  );
  scope.ahead = [...scope.ahead, ...fresh];
}
