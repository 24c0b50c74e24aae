// What the cards for lists, preferences and adjudication share.

/** @import { Decision, Item } from "../core/types.js" */
/** @import { Marked } from "./highlights.js" */
/** @import { CardData, On, Part } from "./types.js" */
/** @import { Texts } from "./unit_rest.js" */
/** @import { View } from "./view.js" */

import { countOf } from "../core/kinds/units.js";
import { openUnit } from "../core/state.js";
import { Bar, isCutOff } from "./bar.js";
import { Deciding } from "./deciding.js";
import { setMark } from "./grades.js";
import { Guidelines } from "./guidelines.js";
import { Highlights } from "./highlights.js";
import { Notes } from "./notes.js";
import { figure } from "./phrases.js";
import { Reasons } from "./reasons.js";
import { Help, Settings } from "./settings.js";
import { Tiles } from "./tile.js";
import { TopicText } from "./topics.js";
import { restOf } from "./unit_rest.js";

/** What the cards say for lists and preferences, whose units are topics. */
export const TOPIC_FACE = {
  asked: (/** @type {View} */ _, /** @type {CardData} */ { query_id }, /** @type {boolean} */ fresh) =>
    fresh ? query_id : null,
  asking: "The requested topic",
  notices: { "only-one": () => "This is the only topic left." },
};

/** Answers a key where nothing is on screen. @param {View} view */
export const sayNothingHere = ({ card }) =>
  card.dispatch({ type: "notice", notice: { code: "nothing-here", urgent: true } });

/**
 * Marks the answer that was given, or that was undone.
 *
 * @param {View} view
 * @param {Item | null} item
 * @param {string[]} answers
 * @param {(decision: Decision) => string} answerOf
 */
export function markAnswers(view, item, answers, answerOf) {
  const before = item?.unit.before;
  const undone = before && view.card.kind.subject(before) === item.subject ? before : null;
  const decision = item?.entry?.decision ?? undone;
  const given = decision && answerOf(decision);
  for (const answer of [...answers, "cannot judge"])
    setMark(view.node(answer === "cannot judge" ? "cannotJudge" : answer), answer === given, Boolean(item?.entry));
}

/** The unit on screen, or the one that waits for the server. @param {View} view */
export const unitOf = ({ item, state }) => item?.unit ?? openUnit(state);

/**
 * The parts of a card; `main` draws the documents, says where the topic's words are in them, and which nodes scroll.
 *
 * @param {View} view
 * @param {Part & { marked: Marked[], places: HTMLElement[] }} main
 * @param {Texts} texts
 * @param {boolean} beside whether the guidelines leave the documents in sight
 * @returns {Part[]}
 */
export const unitParts = (view, main, texts, beside = true) => [
  new Progress(view, main.places, texts),
  new Bar(view), // before the documents: how it names a side depends on the layout, which is still valid
  main,
  new Tiles(view),
  new Highlights(view, () => main.marked),
  new Settings(view),
  new TopicText(view, () => unitOf(view)?.topic),
  new Deciding(view),
  new Notes(view, { open: "Saved with your decision.", decided: "Saved with the decision you made." }),
  new Reasons(view),
  new Guidelines(view, () => unitOf(view)?.queryId ?? null, beside),
  new Help(view),
];

/** How much is done, and why nothing is open; scrolls back for the next unit. @implements {Part} */
class Progress {
  /** @param {View} view @param {HTMLElement[]} places what scrolls @param {Texts} texts */
  constructor(view, places, texts) {
    this.view = view;
    this.places = places;
    this.texts = texts;
    /** @type {Set<HTMLElement>} */
    this.scrolled = new Set();
  }

  /** @param {On} on */
  attach(on) {
    for (const place of this.places) on(place, "scroll", () => this.scrolled.add(place), { passive: true });
    return undefined;
  }

  /** @param {Item | null} item @param {boolean} turned */
  render(item, turned) {
    const { view } = this;
    if (turned) {
      // before the texts are drawn: the layout is still valid
      for (const place of this.scrolled) place.scrollTop = 0;
      this.scrolled.clear();
    }
    const count = countOf(view.state);
    if (count) drawShare(view, "all", `${figure(count.done)} of ${figure(count.goal)}`, count.done, count.goal);
    view.nodes.answers?.classList.toggle("cd-idle", !item); // they stay, and say that nothing is there
    view.setHidden("rest", item !== null);
    if (item) return;
    const [title = "", words = ""] = restOf(view, this.texts, isCutOff(view));
    view.setText("restTitle", title);
    view.setText("restWords", words);
  }
}

/** Draws a count with its bar. @param {View} view @param {"all" | "topic"} name @param {string} words @param {number} done @param {number} goal */
export function drawShare(view, name, words, done, goal) {
  if (view.texts[`${name}Count`] === words) return;
  view.setText(`${name}Count`, words);
  view.node(`${name}Bar`).style.transform = `scaleX(${goal ? Math.min(1, done / goal) : 0})`;
}
