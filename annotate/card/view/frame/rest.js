// The message of the card for grades while no document is on screen.

/** @import { GradeScope, Part, State, View } from "../types.js" */

import { countOf, isDone, topicOf } from "../../core/kinds/counts.js";
import { nextUnfinished } from "../../core/kinds/topics.js";
import { CUT_OFF, drawRest, isCutOff, ONE_MOMENT } from "./bar.js";
import { count, figure } from "./phrases.js";

/** A title, a sentence, whether to offer the next topic, and whether nothing is left. @typedef {readonly [title: string, words: string, next?: boolean, isOver?: boolean]} Words */

const CONTINUE = "Continue with the next topic.";
const RESULTS = "Managers can download the qrels on the Export page.";

/** @param {State<GradeScope>} state @param {boolean} cutOff whether there has been no connection for a while @param {boolean} isReview whether its end is the report of a review @returns {Words} */
export function restOf(state, cutOff, isReview = false) {
  const { exhausted, scope } = state;
  const { topics, budget, nextTopic, problem } = scope;
  const topic = topicOf(scope, scope.topic);
  if (cutOff && !exhausted && !isDone(state, topic)) return [...CUT_OFF, Boolean(topic)];
  if (!topics) return [ONE_MOMENT, "Fetching the topics."];
  if (!topic) {
    const words = "Documents appear here after a manager has added topics and a pool, and assigned topics to you.";
    return ["Nothing to judge yet", words];
  }
  if (topics.every((each) => isDone(state, each))) {
    if (!topics.some((each) => each.without_text))
      return ["All documents are judged", `Thank you. ${RESULTS}`, false, true];
    const words = "Thank you. The other documents appear here when their texts are imported.";
    return ["All documents with text are judged", words];
  }
  const { judged, pool } = countOf(state, topic);
  const isOver = isReview && exhausted && nextTopic === null && !state.outbox.length;
  if (exhausted && budget) {
    const raised = "If a manager raises the budget on the Loop page, new documents appear here automatically.";
    return [budget, nextTopic === null ? `Thank you. ${raised}` : CONTINUE, nextTopic !== null];
  }
  if (exhausted && scope.acrossTopics && !problem && !isDone(state, topic)) {
    if (nextTopic !== null) return ["No selected documents in this topic", CONTINUE, true];
    const words =
      "All selected documents are judged, or other annotators are judging them. Checking again every 10 seconds.";
    return ["No free document right now", words];
  }
  if (pool === null || (scope.inLoop && judged < pool)) {
    if (exhausted && problem)
      return ["The model cannot choose documents", `Trying again every 10 seconds. Error: ${problem}`, true];
    if (!exhausted || !scope.inLoop) return [ONE_MOMENT, "The model is choosing the next documents."];
    const words = "Every document is judged, or another annotator is judging it.";
    const others = `${words} Checking again every 10 seconds.${isOver ? ` ${RESULTS}` : ""}`;
    if (nextTopic === null) return ["No free document right now", others, false, isOver];
    return ["Nothing left in this topic", `${words} ${CONTINUE}`, true];
  }
  if (!pool && topic.without_text) {
    const words = "Documents of this topic appear here when their texts are imported.";
    return ["No document has text yet", `${words} ${CONTINUE}`, true];
  }
  if (!pool) return ["This topic has no pool", CONTINUE, true];
  if (judged >= pool) {
    const missing = count(topic.without_text, "more document has", "more documents have");
    const words = `Nothing is left for you in this topic.${topic.without_text ? ` ${missing} no text yet.` : ""}`;
    return [
      `Topic done: ${figure(judged)} of ${figure(pool)}`,
      `${words} ${isOver ? RESULTS : CONTINUE}`,
      !isOver,
      isOver,
    ];
  }
  if (!exhausted) return [ONE_MOMENT, "Fetching the next documents."];
  const others = "Other annotators are judging the remaining ones.";
  if (nextTopic !== null) return ["No free document in this topic", `${others} ${CONTINUE}`, true];
  return ["No free document right now", `${others} Checking again every 10 seconds.`, true];
}

/** @param {View} view @returns {Part} */
export const rest = (view) => ({
  render(item) {
    if (item || view.waiting) return drawRest(view, null);
    const [title, words, next, isOver = false] = restOf(
      view.state,
      isCutOff(view),
      view.data.review_terms !== undefined,
    );
    drawRest(view, [title, words]);
    view.setHidden("restReport", !isOver || !view.data.report);
    view.setHidden("restNext", !next || nextUnfinished(view.state) === null);
  },
});
