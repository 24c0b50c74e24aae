// The card for preferences: a topic with two documents side by side, of which one is better, or they are equal.

import { topicTitle } from "./core/kinds/list.js";
import { preference } from "./core/kinds/preference.js";
import { mountable } from "./view/frame/mount.js";
import { wordsOf } from "./view/units/grades.js";
import { documentOf, preferences, scrollerOf } from "./view/units/preferences.js";
import { TOPIC_TEXTS } from "./view/units/unit_rest.js";
import { TOPIC_FACE, unitParts } from "./view/units/units.js";

/** Labels of the answers while the documents are one above the other. @type {Record<string, string>} */
const STACKED = { left: "upper", right: "lower" };

export default mountable({
  ...TOPIC_FACE,
  kind: preference,
  place: "preference:",
  noun: "preference",
  several: true,
  parts: (view) => unitParts(view, preferences(view), TOPIC_TEXTS, false),
  scroller: scrollerOf,
  words(view, decision) {
    const { kind } = decision;
    if (kind === "equal") return "equally good";
    if (!(kind in STACKED)) return wordsOf(view, decision);
    const tall = /** @type {HTMLElement | null} */ (view.node("left").querySelector(".cd-tall"));
    return `${tall?.offsetParent ? STACKED[kind] : kind} is better`;
  },
  heard(_, { unit, about: { left = "", right = "" } }) {
    const [one, other] = [left, right].map((id) => documentOf(unit, id).title || id);
    return `${topicTitle(unit)}: ${one}, or ${other}`;
  },
});
