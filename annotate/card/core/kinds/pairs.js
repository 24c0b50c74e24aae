// Pairs of a topic and a document: what is graded and adjudicated.

/** @import { Doc, GradeScope, State, Turn, Unit } from "../types.js" */

import { changeHistory, newUnits } from "../state.js";

/** @param {string} queryId @param {string} docId */
export const pairId = (queryId, docId) => JSON.stringify([queryId, docId]);

/** @param {{ query_id: string, doc_id?: string }} decision */
export const idOf = ({ query_id, doc_id = "" }) => pairId(query_id, doc_id);

/** @param {{ documents: Doc[] }} unit @returns {Doc} */
export const docOf = ({ documents: [doc] }) => /** @type {Doc} */ (doc);

/** The unit of a document; with `said`, the judgement on it lacks an answer. @param {string} queryId @param {Doc} doc @returns {Unit} */
export function pairUnit(queryId, { said, ...doc }) {
  return { id: pairId(queryId, doc.doc_id), queryId, documents: [doc], ...(said && { said }) };
}

/** Documents of an answer that are not held; one with a judgement under way is never shown as unjudged. @param {State<GradeScope>} state @param {Doc[]} documents @param {Set<string>} judged */
export const newPairs = (state, documents, judged) =>
  newUnits(
    state,
    documents.map((doc) => pairUnit(state.scope.topic ?? "", doc)),
    judged,
  );

/** Drops judgements from the history whose pairs are open again because another device undid them. @param {Turn<GradeScope>} turn @param {Unit[]} units */
export function dropFromHistory(turn, units) {
  if (!units.length) return;
  const ids = new Set(units.map(({ id }) => id));
  const { look } = turn.state;
  changeHistory(turn, (entry) => (entry !== look && ids.has(idOf(entry.decision)) ? null : entry));
}
