// Counts of the card for grades: judged and pooled documents of each topic, and of all.

/** @import { GradeScope, Pending, State, Topic } from "../types.js" */

import { outstanding } from "../state.js";

/**
 * Places of topics by their ids, for each list of them. There may be thousands of sentences: lists that differ only in
 * counts share one map.
 *
 * @type {WeakMap<Topic[], Map<string, number>>}
 */
const places = new WeakMap();

/** @param {Topic[]} topics */
function placesIn(topics) {
  const known = places.get(topics) ?? new Map(topics.map(({ query_id }, at) => [query_id, at]));
  places.set(topics, known);
  return known;
}

/** @param {GradeScope} scope @param {string | null | undefined} queryId @returns {Topic | undefined} */
export const topicOf = ({ topics }, queryId) => topics?.[placesIn(topics).get(queryId ?? "") ?? -1];

/**
 * Judged and pooled of a topic, or of all (null), with decisions that are not counted yet.
 *
 * @param {State<GradeScope>} state @param {Topic | null} topic
 */
export function countOf(state, topic) {
  const unsent = outstanding(state).filter(({ decision }) => !topic || decision.query_id === topic.query_id);
  const base = topic ?? state.scope.all ?? sumOf(state.scope.topics ?? []);
  const judged = Math.max(0, base.judged + unsent.reduce((sum, { delta }) => sum + delta, 0));
  return { judged: base.pool === null ? judged : Math.min(judged, base.pool), pool: base.pool };
}

/** @param {Topic[]} topics */
const sumOf = (topics) => ({
  judged: topics.reduce((sum, { judged }) => sum + judged, 0),
  pool: topics.some(({ pool }) => pool === null) ? null : topics.reduce((sum, { pool }) => sum + (pool ?? 0), 0),
});

/** @param {State<GradeScope>} state @param {Topic | undefined} topic */
export function isDone(state, topic) {
  if (!topic) return false;
  const { judged, pool } = countOf(state, topic);
  return pool !== null && judged >= pool;
}

/** @param {State<GradeScope>} state @param {Pending[]} batch @param {any} answer @param {Set<string>} surplus */
export function takeProgress(state, batch, answer, surplus) {
  const saved = new Set(answer.saved);
  for (const { decision, delta } of batch) {
    if (saved.has(decision.uuid) && !surplus.has(decision.uuid)) add(state.scope, decision.query_id, delta);
  }
  if (!answer.progress) return;
  state.scope.all = answer.progress.all;
  const { topic } = answer.progress;
  if (topic) change(state.scope, answer.query_id, () => topic);
}

/** @param {GradeScope} scope @param {string} queryId @param {(topic: Topic) => Partial<Topic>} changes */
function change(scope, queryId, changes) {
  const { topics } = scope;
  if (!topics) return;
  const known = placesIn(topics);
  const at = known.get(queryId) ?? -1;
  const topic = topics[at];
  if (!topic) return;
  scope.topics = topics.with(at, { ...topic, ...changes(topic) });
  places.set(scope.topics, known);
}

/** @param {GradeScope} scope @param {string} queryId @param {number} delta */
export const add = (scope, queryId, delta) => change(scope, queryId, ({ judged }) => ({ judged: judged + delta }));
