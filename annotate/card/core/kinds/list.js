// Lists: a topic with its documents, of which the annotator selects those that answer it, or none.

import { unitKind } from "./units.js";

/** @param {{ topic?: { title: string, query_id: string } | undefined, queryId: string }} unit */
export const topicTitle = ({ topic, queryId }) => topic?.title || queryId;

/** @param {{ query_id: string }} decision */
const topicId = ({ query_id }) => query_id;

export const list = unitKind({
  name: "list",
  low: 6,
  full: 12,
  take: ({ topic, documents }) => ({ id: topic.query_id, queryId: topic.query_id, topic, documents }),
  decided: ({ topic, former }) => former && { ...former, query_id: topic.query_id },
  title: topicTitle,
  subject: topicId,
  unitId: topicId,
  about: ({ documents }) => ({ shown: documents.map(({ doc_id }) => doc_id), chosen: [] }),
  undone: { shown: [], chosen: [] },
});
