// Adjudication: a pair on which annotators differ, with their judgements, and one grade for it.

import { unitKind } from "./units.js";

/** @param {{ query_id: string, doc_id?: string }} decision */
const pairId = ({ query_id, doc_id }) => JSON.stringify([query_id, doc_id]);

export const adjudication = unitKind({
  name: "adjudication",
  route: "adjudicate",
  blank: { relevance: null },
  low: 24,
  full: 36,
  ask: (id) => ({ pair: id }),
  take({ topic, documents, opinions }) {
    const id = pairId({ query_id: topic.query_id, doc_id: documents[0].doc_id });
    return { id, queryId: topic.query_id, topic, documents, opinions, before: null };
  },
  decided: ({ former }) => former,
  title: ({ documents: [doc] }) => doc?.title || doc?.doc_id || "",
  subject: pairId,
  unitId: pairId,
  about: ({ documents: [doc] }) => ({ doc_id: doc?.doc_id ?? "" }),
  after: () => null,
  delta: () => 1,
  back: (_, { unit }) => ({ unit, delta: -1 }),
});
