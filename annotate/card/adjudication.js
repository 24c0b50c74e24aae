// The card for adjudication: a pair on which annotators differ with their judgements, and one grade for it.

/** @import { Card } from "./shell/card.js" */

import { adjudication } from "./core/kinds/adjudication.js";
import { topicTitle } from "./core/kinds/list.js";
import { mountable } from "./view/frame/mount.js";
import { count } from "./view/frame/phrases.js";
import { adjudicatedTask } from "./view/panels/answer_task.js";
import { opinions } from "./view/panels/opinions.js";
import { grades, wordsOf } from "./view/units/grades.js";
import { questions } from "./view/units/questions.js";
import { PAIR_TEXTS } from "./view/units/unit_rest.js";
import { unitParts } from "./view/units/units.js";

/** The pair that was picked on the page when the card was last mounted. @type {WeakMap<Card, string | undefined>} */
const picks = new WeakMap();

export default mountable({
  kind: adjudication,
  place: "adjudication:",
  noun: "adjudication",
  one: "pair",
  parts(view) {
    const [progress, ...others] = unitParts(view, opinions(view), PAIR_TEXTS);
    const judging = [
      questions(view),
      ...others,
      ...adjudicatedTask(view),
      grades(view, ". Record this as the adjudicated grade."),
    ];
    return progress ? [progress, ...judging] : judging; // Escape leaves a question before an earlier decision
  },
  scroller: (view) => view.node("scroller"),
  requested({ card }, { pair, picked }) {
    if (!pair || picked === picks.get(card)) return null;
    picks.set(card, picked);
    return JSON.stringify(pair);
  },
  words: wordsOf,
  heard: (view, { unit }) =>
    `${adjudication.title(unit)}, for ${topicTitle(unit)}: ${view.words(count(unit.opinions?.length ?? 0, "judgement"))}`,
});
