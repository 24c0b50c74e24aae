// A document to adjudicate, and what annotators said of it.

/** @import { Item, Opinion } from "../core/types.js" */
/** @import { Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { gradeBadge } from "./grades.js";
import { paint } from "./highlights.js";
import { apart, cut, make, smallButton } from "./nodes.js";
import { rangesOf } from "./text.js";
import { Tile } from "./tile.js";

/** Characters of a note, and its lines, beyond which it is folded. */
const FOLDED = 280;
const FOLDED_LINES = 6;

/** @implements {Part} */
export class Opinions {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.tile = new Tile(view.node("document"));
    this.places = [view.node("scroller"), view.node("opinionsPlace")];
    this.isNamed = false;
    /** @type {unknown[]} */
    this.drawn = [];
    this.actions = {
      names: {
        run: () => {
          this.isNamed = !this.isNamed;
          view.render();
        },
      },
    };
    this.clicks = {
      "open-opinion": (/** @type {HTMLElement} */ button) => {
        button.textContent = button.parentElement?.classList.toggle("cd-folded") ? "Show all" : "Show less";
      },
    };
  }

  /** @param {Item | null} item */
  render(item) {
    const { view, isNamed } = this;
    view.setHidden("document", !item);
    view.setHidden("opinions", !item);
    view.node("names").setAttribute("aria-pressed", String(isNamed));
    const [doc] = item?.unit.documents ?? [];
    if (!item || !doc) return;
    const { opinions = [] } = item.unit;
    this.tile.draw(doc);
    const passages = opinions.flatMap((opinion) => opinion.passages);
    const { segments } = this.tile.sheet;
    paint("cd-passage", [opinions, segments], () => passages.flatMap((place) => rangesOf(segments, place)));
    const drawn = [opinions, isNamed, view.data.scale];
    if (drawn.every((each, i) => each === this.drawn[i])) return;
    this.drawn = drawn;
    view.setHidden("nobody", opinions.length > 0);
    view.node("opinionList").replaceChildren(...opinions.map((opinion, i) => this.row(opinion, i)));
  }

  get marked() {
    return this.tile.marked;
  }

  /** @param {Opinion} opinion @param {number} i */
  row(opinion, i) {
    const { kind, relevance, reason, note, flagged, quotes } = opinion;
    const row = make("li", { className: "cd-opinion" });
    const head = make("p", { className: "cd-opinion-head" });
    const known = this.view.data.scale.find(({ grade }) => grade === relevance);
    const label = kind === "graded" ? (known?.label ?? String(relevance)) : "Cannot judge";
    head.append(gradeBadge(this.view, opinion), apart("b", label));
    if (flagged) head.append(make("span", { className: "cd-badge cd-flag", textContent: "Flagged" }));
    row.append(head, this.whoLine(opinion, i));
    const words = [reason ?? "", note ?? "", ...quotes];
    row.append(...words.flatMap((each, at) => (each ? apart(at < 2 ? "p" : "q", each) : [])));
    if (words.some((each) => each.length > FOLDED || each.split("\n").length > FOLDED_LINES)) {
      row.classList.add("cd-folded");
      row.append(smallButton("Show all", "open-opinion"));
    }
    return row;
  }

  /** The annotator, by name or by letter, and the seconds on screen; with the name also the time. @param {Opinion} opinion @param {number} i */
  whoLine({ annotator, seconds, judged_at }, i) {
    const line = make("p", { className: "cd-opinion-who" });
    const letter = `Annotator ${String.fromCharCode(65 + (i % 26))}${i < 26 ? "" : Math.floor(i / 26) + 1}`;
    line.append(apart("bdi", this.isNamed ? cut(annotator, 100) : letter));
    /** @param {string} textContent @param {string} title */
    const add = (textContent, title) => line.append(make("span", { textContent, title }));
    if (seconds !== null) add(`${seconds.toFixed(1)} s`, "Active time on the document");
    if (this.isNamed) add((judged_at ?? "").slice(0, 16).replace("T", " "), "Judged (UTC)");
    return line;
  }
}
