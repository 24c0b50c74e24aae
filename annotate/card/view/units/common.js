// The parts that every card has besides its documents and answers.

/** @import { Part, Topic, TopicWords, View } from "../types.js" */

import { guidelines } from "../panels/guidelines.js";
import { notes } from "../panels/notes.js";
import { help, settings } from "../panels/settings.js";
import { topicText } from "../panels/topics.js";
import { reasons } from "./reasons.js";

/** Undo, skip and look back. @param {View} view @returns {Part} */
const deciding = ({ card }) => ({
  actions: {
    undo: { run: (source) => card.dispatch({ type: "undo", ...card.by(source) }) },
    skip: { run: () => card.dispatch({ type: "skip" }) },
    back: { run: () => card.dispatch({ type: "look", step: -1 }) },
    forward: { run: () => card.dispatch({ type: "look", step: 1 }) },
  },
  /** To the open unit, from however far back. */
  stepBack: () => card.state.look && (() => card.dispatch({ type: "look", step: Infinity })),
});

/**
 * @param {View} view @param {(view: View) => Topic | TopicWords | null | undefined} topicOn the topic of the open unit
 * @param {{ open: string, decided: string }} hints where a note is saved
 * @param {boolean} beside whether the guidelines leave the documents in sight @returns {Part[]}
 */
export const commonParts = (view, topicOn, hints, beside) => [
  topicText(view, topicOn),
  deciding(view),
  notes(view, hints),
  reasons(view),
  guidelines(view, () => topicOn(view)?.query_id ?? null, beside),
  settings(view),
  help(view),
];
