// Adjudication: a pair on which annotators differ, with their judgements, and one grade for it.

import { idOf, pairId } from "./pairs.js";
import { unitKind } from "./units.js";

export const adjudication = unitKind({
  name: "adjudication",
  blank: { relevance: null },
  low: 24,
  full: 36,
  take({ topic, documents, opinions }) {
    const { query_id: queryId } = topic;
    return { id: pairId(queryId, documents[0].doc_id), queryId, topic, documents, opinions };
  },
  decided: ({ former }) => former,
  title: ({ documents: [doc] }) => doc?.title || doc?.doc_id || "",
  subject: idOf,
  unitId: idOf,
  about: ({ documents: [doc] }) => ({ doc_id: doc?.doc_id ?? "" }),
});
