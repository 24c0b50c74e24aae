// A document to adjudicate, and what annotators said of it.

/** @import { Main, Opinion, View } from "../types.js" */

import { paint } from "../document/highlights.js";
import { rangesOf } from "../document/text.js";
import { apart, cut, make, setPressed, smallButton } from "../frame/nodes.js";
import { gradeBadge } from "../units/grades.js";
import { answerWords } from "../units/question_words.js";
import { Tile } from "../units/tile.js";

/** Characters of a note, and its lines, beyond which it is folded. */
const FOLDED = 280;
const FOLDED_LINES = 6;

/** @param {View} view @returns {Main} */
export function opinions(view) {
  const tile = new Tile(view.node("document"));
  let isNamed = false;
  /** @type {unknown[]} */
  let drawn = [];
  return {
    places: [view.node("scroller"), view.node("opinionsPlace")],
    marked: () => tile.marked,
    actions: {
      names: {
        run() {
          isNamed = !isNamed;
          view.render();
        },
      },
    },
    clicks: {
      "open-opinion": (button) =>
        (button.textContent = button.parentElement?.classList.toggle("cd-folded") ? "Show all" : "Show less"),
    },
    render(item) {
      for (const name of ["document", "opinions"]) view.setHidden(name, !item);
      setPressed(view.node("names"), isNamed);
      const [doc] = item?.unit.documents ?? [];
      if (!item || !doc) return;
      const { opinions: all = [] } = item.unit;
      tile.draw(doc);
      const { segments } = tile;
      const places = () => all.flatMap(({ passages }) => passages.flatMap((place) => rangesOf(segments, place)));
      paint("cd-passage", [all, segments], places);
      const shown = [all, isNamed, view.data.scale, view.data.questions];
      if (shown.every((each, i) => each === drawn[i])) return;
      drawn = shown;
      view.setHidden("nobody", all.length > 0);
      view.node("opinionList").replaceChildren(...all.map((opinion, i) => drawOpinion(view, opinion, i, isNamed)));
    },
  };
}

/** @param {View} view @param {Opinion} opinion @param {number} i @param {boolean} isNamed */
function drawOpinion(view, opinion, i, isNamed) {
  const { kind, relevance, reason, note, flagged, quotes, answers } = opinion;
  const known = view.data.scale.find(({ grade }) => grade === relevance);
  const label = kind === "graded" ? (known?.label ?? String(relevance)) : view.words("Cannot judge");
  const flag = flagged ? [make("span", { className: "cd-badge cd-flag" }, "Flagged")] : [];
  const said = answerWords(view, answers);
  const words = [said.join("\n"), reason ?? "", note ?? "", ...quotes];
  const isLong = words.some((each) => each.length > FOLDED || each.split("\n").length > FOLDED_LINES);
  return make(
    "li",
    { className: isLong ? "cd-opinion cd-folded" : "cd-opinion" },
    make("p", { className: "cd-opinion-head" }, gradeBadge(view, opinion), apart("b", label), ...flag),
    whoLine(view, opinion, i, isNamed),
    ...words.flatMap((each, at) => (each ? apart(at < 3 ? "p" : "q", each) : [])),
    ...(isLong ? [smallButton("Show all", "open-opinion")] : []),
  );
}

/** The annotator, by name or by letter, and the seconds on screen; with the name also the time. @param {View} view @param {Opinion} opinion @param {number} i @param {boolean} isNamed */
function whoLine(view, { annotator, seconds, judged_at }, i, isNamed) {
  const letter = view.words`Annotator ${String.fromCharCode(65 + (i % 26))}${i < 26 ? "" : Math.floor(i / 26) + 1}`;
  const line = make("p", { className: "cd-opinion-who" }, apart("bdi", isNamed ? cut(annotator, 100) : letter));
  /** @param {string} words @param {string} title */
  const add = (words, title) => line.append(make("span", { title }, words));
  if (seconds !== null) add(`${seconds.toFixed(1)} s`, view.words("Active time on the document"));
  if (isNamed) add((judged_at ?? "").slice(0, 16).replace("T", " "), view.words("Judged (UTC)"));
  return line;
}
