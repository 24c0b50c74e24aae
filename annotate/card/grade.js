// The judging card: shows one document of a topic at a time, and takes a grade for it.

/** @import { DocumentNodes } from "./view/document/drawn_document.js" */
/** @import { Face, Part } from "./view/types.js" */
/** @import { View } from "./view/frame/view.js" */

import { grade } from "./core/kinds/grade.js";
import { documentPart } from "./view/document/document.js";
import { DrawnDocument } from "./view/document/drawn_document.js";
import { highlights } from "./view/document/highlights.js";
import { nearDuplicates } from "./view/document/near_duplicates.js";
import { passages } from "./view/document/passages.js";
import { pdfPart } from "./view/document/pdf.js";
import { bar, discardedWords, keyHint, said } from "./view/frame/bar.js";
import { byInput } from "./view/frame/keys.js";
import { menu } from "./view/frame/menu.js";
import { mountable } from "./view/frame/mount.js";
import { rest } from "./view/frame/rest.js";
import { answerTask, NUGGET_ASSIGNMENT } from "./view/panels/answer_task.js";
import { feedback } from "./view/panels/feedback.js";
import { flag } from "./view/panels/flag.js";
import { history } from "./view/panels/history.js";
import { search } from "./view/panels/search.js";
import { breaks, sessionTime } from "./view/panels/session_time.js";
import { shownTopic, topics } from "./view/panels/topics.js";
import { why } from "./view/panels/why.js";
import { commonParts } from "./view/units/common.js";
import { grades, wordsOf } from "./view/units/grades.js";
import { questions } from "./view/units/questions.js";

const TO_NOTE = { open: "Saved with your grade for this document.", decided: "Saved with the grade you gave." };

/** Escape goes to the first that has something to leave. @param {View} view @returns {Part[]} */
function parts(view) {
  const { nodes } = view;
  // A nugget stands for its document, beside the answer.
  const own = view.data.task === NUGGET_ASSIGNMENT ? { ...nodes, title: nodes.nuggetText } : nodes;
  const drawn = new DrawnDocument(/** @type {DocumentNodes} */ (own), 12);
  return [
    documentPart(view, drawn),
    pdfPart(view, drawn),
    ...answerTask(view, drawn), // before the highlights, which invalidate the layout that it measures
    highlights(view, () => drawn.marked),
    passages(view, drawn),
    questions(view),
    grades(view),
    feedback(view),
    breaks(view),
    sessionTime(view),
    nearDuplicates(view),
    ...commonParts(view, shownTopic, TO_NOTE, true),
    topics(view),
    flag(view),
    search(view),
    history(view),
    why(view),
    ...(view.face.more?.(view, drawn) ?? []),
    menu(view),
    rest(view),
    bar(view),
  ];
}

/** @type {Face} */
export const face = {
  kind: grade,
  place: "",
  noun: "judgement",
  one: "document",
  parts,
  scroller: (view) => view.node("scroller"),
  requested: (_, { query_id }) => query_id,
  words: wordsOf,
  heard: (_, { unit }) => `Now: ${grade.title(unit)}`,
  notices: {
    "looking-back": (view, { decision, discarded }) => {
      const isFar = view.state.look !== view.state.history.at(-1); // one key from however far back
      const way = `${keyHint(view, "forward", ", ")}${isFar ? byInput(", Esc to return", "") : ""}`;
      return view.words`: ${said(view, decision)}${discarded ? "; the change before was not finished" : ""} – grade again to change it${way}`;
    },
    "forward-to-open": ({ words }, { discarded }) => words`${discardedWords(discarded)}Back to the unjudged document.`,
    "no-earlier": ({ words }) => words("No earlier judgements."),
    "already-decided": (view) => view.words`This document is already judged${keyHint(view, "forward", ": press ")}.`,
    "only-one": ({ words }) => words("This is the only document left in this topic."),
    skipped: ({ state, words }) => `: skipped ${state.scope.inLoop ? "for now" : words("until the end of this topic")}`,
    "decided-in-another-tab": (view, { decision }) =>
      `: ${decision?.kind === "undone" ? "undone" : view.words`judged ${said(view, decision)}`} in another tab`,
    "closed-elsewhere": ({ words }) => words(": no longer needs a judgement"),
    flagged: ({ words }, { on, saved }) =>
      on ? `: flagged${saved ? "" : words("; saved with your grade")}` : ": flag removed",
    surplus: ({ words }) => words(": not counted; others judged it first"),
    "qualification-first": () => "Qualification first: every annotator judges these documents.",
    "next-topic": ({ words }, { words: budget, done }) =>
      words`${budget || words(done ? "Topic done" : "No free document in the last topic")}. This one has documents for you.`,
    "found-now": ({ words }) => words(": found by searching; judge it now"),
    "found-next": () => ": found by searching; it comes next",
    "on-screen-already": ({ words }) => words("This document is already on screen."),
  },
};

export default mountable(face);
