// The judging card: shows one document of a topic at a time, and takes a grade for it.

/** @import { Decision } from "./core/types.js" */
/** @import { Part } from "./view/types.js" */
/** @import { View } from "./view/view.js" */

import { grade } from "./core/kinds/grade.js";
import { causeOf, Failure } from "./shell/network.js";
import { Bar, forwardHint, ONE_MOMENT } from "./view/bar.js";
import { Deciding } from "./view/deciding.js";
import { DocumentPart } from "./view/document.js";
import { Feedback } from "./view/feedback.js";
import { Flag } from "./view/flag.js";
import { Grades, wordsOf } from "./view/grades.js";
import { Guidelines } from "./view/guidelines.js";
import { Highlights } from "./view/highlights.js";
import { History } from "./view/history.js";
import { byInput } from "./view/keys.js";
import { Menu } from "./view/menu.js";
import { mountable } from "./view/mount.js";
import { NearDuplicates } from "./view/near_duplicates.js";
import { Notes } from "./view/notes.js";
import { Passages } from "./view/passages.js";
import { Reasons } from "./view/reasons.js";
import { Rest } from "./view/rest.js";
import { Search } from "./view/search.js";
import { SessionTime } from "./view/session_time.js";
import { Help, Settings } from "./view/settings.js";
import { shownTopic, Topics, TopicText } from "./view/topics.js";
import { Why } from "./view/why.js";

const TO_NOTE = { open: "Saved with your grade for this document.", decided: "Saved with the grade you gave." };

/** @param {View} view @param {Decision | undefined} decision */
const words = (view, decision) => (decision ? wordsOf(view, decision) : "");

/** Escape goes to the first that has something to leave. @param {View} view @returns {Part[]} */
function parts(view) {
  const document = new DocumentPart(view);
  return [
    document,
    new Highlights(view, () => document.drawn.marked),
    new Passages(view, document),
    new Grades(view),
    new Feedback(view),
    new SessionTime(view),
    new NearDuplicates(view),
    new TopicText(view, shownTopic),
    new Topics(view),
    new Deciding(view),
    new Flag(view),
    new Reasons(view),
    new Search(view),
    new History(view),
    new Notes(view, TO_NOTE),
    new Why(view),
    new Guidelines(view, () => shownTopic(view)?.query_id ?? null, true),
    new Menu(view),
    new Settings(view),
    new Help(view),
    new Rest(view),
    new Bar(view),
  ];
}

export default mountable({
  kind: grade,
  place: "",
  noun: "judgement",
  parts,
  scroller: (view) => view.node("scroller"),
  asked: (_, { query_id }) => query_id,
  words: wordsOf,
  heard: (_, { unit }) => `Now: ${grade.title(unit)}`,
  notices: {
    "looking-back": (view, { decision }) => {
      const { look, history } = view.state;
      const isFar = look !== null && look < history.length - 1; // one key from however far back
      const way = `${forwardHint(view, ", ")}${isFar ? byInput(", Esc to return", "") : ""}`;
      return `: ${words(view, decision)} – grade again to change it${way}`;
    },
    "forward-to-open": () => "Back to the unjudged document.",
    "nothing-here": (view) =>
      view.texts.restTitle === ONE_MOMENT ? "The next document is loading." : "There is no document on screen.",
    "no-earlier": () => "No earlier judgements.",
    "already-decided": (view) => `This document is already judged${forwardHint(view, ": press ")}.`,
    "only-one": () => "This is the only document left in this topic.",
    skipped: (view) => `: skipped ${view.state.scope.inLoop ? "for now" : "until the end of this topic"}`,
    "decided-in-another-tab": (view, { decision }) =>
      `: ${decision?.kind === "undone" ? "undone" : `judged ${words(view, decision)}`} in another tab`,
    "closed-elsewhere": () => ": no longer needs a judgement",
    "cannot-load": (_, { status = -1, detail }) =>
      `The document could not be loaded: ${causeOf(new Failure(status, detail))}.`,
    flagged: (_, { on, saved }) => (on ? `: flagged${saved ? "" : "; saved with your grade"}` : ": flag removed"),
    surplus: () => ": not counted; others judged it first",
    "calibration-first": () => "Calibration first: all annotators judge these documents.",
    "next-topic": (_, { words: budget, done }) =>
      `${budget || (done ? "Topic done" : "No free document in this topic")}. Continuing with the next topic that has documents for you.`,
    "found-now": () => ": found by searching; judge it now",
    "found-next": () => ": found by searching; it comes next",
    "on-screen-already": () => "This document is already on screen.",
  },
});
