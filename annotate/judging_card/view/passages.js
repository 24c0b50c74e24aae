// Marking why a document is relevant: passages, by selecting them or sentence by sentence.

/** @import { Item, Place } from "../core/types.js" */
/** @import { DocumentPart } from "./document.js" */
/** @import { Segment } from "./text.js" */
/** @import { On, Part, Pressed, Source } from "./types.js" */
/** @import { View } from "./view.js" */

import { marksOf } from "../core/state.js";
import { paint } from "./highlights.js";
import { cut } from "./nodes.js";
import { count, figure } from "./phrases.js";
import { sentencesOf, union, wholeSigns } from "./places.js";
import { liveRange, selectedRange } from "./selection.js";
import { rangesOf, stretchesOf } from "./text.js";

/** The sentences of the text as it is drawn, and the current one. */
/** @typedef {{ segments: Segment[], sentences: { place: Place, words: string }[], at: number }} Steps */

/** @param {Place} outer @param {Place} inner */
const isWithin = (outer, inner) => outer[0] <= inner[0] && inner[1] <= outer[1];

/** @implements {Part} */
export class Passages {
  /** @param {View} view @param {DocumentPart} document */
  constructor(view, document) {
    this.view = view;
    this.document = document;
    /** @type {Steps | null} */
    this.steps = null;
    /** The sentence that was brought into sight last. @type {unknown} */
    this.shown = null;
    /** @type {Record<string, import("./types.js").Action>} */
    this.actions = {
      mark: {
        run: (source) => this.markOrStep(source),
        when: () => Boolean(view.data.card.marking),
        refusal: "Marking passages is turned off in this campaign.",
      },
    };
    this.clicks = {
      "mark-selection": () => this.markSelection("click"),
      "mark-sentence": () => this.markSentence("click"),
      "next-sentence": () => this.step(1),
      "previous-sentence": () => this.step(-1),
      "clear-passages": () => this.change([], "click"),
    };
    this.panels = {
      sentences: {
        node: "sentencesPanel",
        beside: true,
        isOfUnit: true,
        keys: (/** @type {KeyboardEvent} */ _, /** @type {Pressed} */ pressed) => this.keys(pressed),
        render: () => this.renderSentence(),
        left: () => {
          this.steps = null;
          this.shown = null;
          paint("cd-sentence", [], () => []);
        },
      },
    };
  }

  get segments() {
    return this.document.sheet.segments;
  }

  get passages() {
    const { card, item, state } = this.view;
    return (item && marksOf(card.kind, state, item).passages) ?? [];
  }

  /** @param {Place[]} passages @param {Source} source */
  change(passages, source) {
    const { card } = this.view;
    card.dispatch({ type: "mark", changes: { passages }, ...card.by(source) });
  }

  /** @param {Item | null} _ @param {boolean} turned */
  render(_, turned) {
    const { passages, segments, view } = this;
    if (turned) view.setHidden("marker", true);
    paint("cd-passage", [passages, segments], () => passages.flatMap((place) => rangesOf(segments, place)));
    view.setHidden("markedLine", !passages.length);
    if (passages.length) view.setText("markedWords", `${count(passages.length, "passage")} marked`);
  }

  /** @param {Source} source */
  markOrStep(source) {
    const { document, view } = this;
    if (!document.doc) return view.card.say("There is no document on screen.");
    if (!document.doc.text) return view.card.say("This document has no text to mark.");
    return this.markSelection(source) ? undefined : view.setPanel("sentences");
  }

  // ------------------------------------------------------------------------------------------- selections

  /** What is selected on the page, where that touches the text of the document: a place in code points, empty for a click. */
  selected() {
    const { root } = this.view;
    const { sheet } = this.document;
    const range = selectedRange(root.getRootNode());
    if (!range) return null;
    const { startContainer, startOffset, endContainer, endOffset } = range;
    const isClick = startContainer === endContainer && startOffset === endOffset;
    if (isClick && !sheet.node.contains(startContainer)) return null;
    try {
      if (!liveRange(range).intersectsNode(sheet.node)) return null;
    } catch {
      return null; // a selection that begins or ends outside of the card, where the browser does not say where
    }
    const start = sheet.placeOf(startContainer, startOffset, false);
    return /** @type {Place} */ ([start, isClick ? start : sheet.placeOf(endContainer, endOffset, true)]);
  }

  /** What of a place is drawn, without the blanks around it and with whole signs. @param {Place} place */
  visibleParts(place) {
    return stretchesOf(this.segments, place).flatMap(({ segment, begin, end }) =>
      wholeSigns(segment.text, [begin, end]).map((part) => segment.placed(part)),
    );
  }

  /** Marks the selection, or unmarks the passage around it. True if something was selected. @param {Source} source */
  markSelection(source) {
    const { passages, view } = this;
    const place = this.selected();
    if (!place) return false;
    const parts = this.visibleParts(place);
    const first = parts[0] ?? [place[0], place[0]];
    const last = parts.at(-1) ?? first;
    const around = passages.find((passage) => isWithin(passage, [first[0], last[1]]) && first[0] < passage[1]);
    if (!around && !parts.length) return false;
    document.getSelection()?.removeAllRanges();
    view.setHidden("marker", true);
    this.change(around ? passages.filter((passage) => passage !== around) : union([...passages, ...parts]), source);
    return true;
  }

  /** Shows the small button above a selection, so that the next line can be read; it scrolls with the document. */
  renderMarker() {
    const { document, view } = this;
    const mayMark = view.data.card.marking && document.doc?.text;
    const place = mayMark ? this.selected() : null;
    const isMarked = place && this.passages.some((passage) => isWithin(passage, place) && place[0] < passage[1]);
    const isClick = place?.[0] === place?.[1];
    const [stretch] = place ? stretchesOf(this.segments, [place[0], Math.max(place[1], place[0] + 1)]) : [];
    const box = isClick && !isMarked ? null : stretch?.segment.box(stretch.begin);
    view.setHidden("marker", !box);
    if (!box) return;
    view.setText("markerWords", isMarked ? "Unmark" : "Mark");
    const marker = view.node("marker");
    const page = view.node("document").getBoundingClientRect();
    const left = Math.min(Math.max(0, box.left - page.left), page.width - marker.offsetWidth - 8);
    const inSight = document.scroller.getBoundingClientRect().top - page.top; // what is selected may begin above it
    const top = Math.max(0, inSight + 4, box.top - page.top - marker.offsetHeight - 6);
    marker.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  // ---------------------------------------------------------------------------------- sentence by sentence

  /** The sentences of the drawn text; the current one stays, or is the first in sight. */
  stepping() {
    const { document, segments, steps } = this;
    if (steps?.segments === segments) return steps;
    const keepsLines = document.sheet.form !== "text";
    const sentences = segments.flatMap((segment) => {
      const sentence = (/** @type {Place} */ part) => ({
        place: segment.placed(part),
        words: segment.text.slice(...part),
      });
      return sentencesOf(segment.text, keepsLines).map(sentence);
    });
    const from = steps ? steps.sentences[steps.at]?.place[0] : document.inSight()?.place;
    const at = sentences.findIndex(({ place }) => place[1] > (from ?? 0));
    this.steps = { segments, sentences, at: Math.max(0, at) };
    return this.steps;
  }

  renderSentence() {
    const { passages, segments, view } = this;
    const { at, sentences } = this.stepping();
    const sentence = sentences[at];
    if (!sentence) return;
    const { place, words } = sentence;
    const isMarked = passages.some((passage) => isWithin(passage, place));
    view.setText("sentenceSays", `${isMarked ? "Marked. " : ""}${cut(words, 500)}`);
    view.setText("sentenceCount", `${figure(at + 1)} of ${figure(sentences.length)}`);
    view.setText("sentenceMark", isMarked ? "Unmark" : "Mark");
    paint("cd-sentence", [sentence], () => rangesOf(segments, place));
    if (this.shown === sentence) return;
    this.shown = sentence;
    const [range] = rangesOf(segments, place);
    if (range) this.bringIntoSight(liveRange(range));
  }

  /** Below the panel that lies over the top of the document, and sideways where lines are kept. @param {Range} range */
  bringIntoSight(range) {
    const { scroller, sheet } = this.document;
    const box = range.getBoundingClientRect();
    if (!box.height) return;
    const place = scroller.getBoundingClientRect();
    const covered = Math.max(0, this.view.node("sentencesPanel").getBoundingClientRect().bottom - place.top);
    if (box.top < place.top + covered + 4 || box.bottom > place.bottom - 4)
      scroller.scrollTop += box.top - place.top - Math.max(covered + 8, place.height / 3);
    const lines = sheet.node.getBoundingClientRect();
    if (box.left < lines.left || box.right > lines.right)
      sheet.node.scrollLeft += box.left - lines.left - lines.width / 3;
  }

  /** @param {number} by */
  step(by) {
    const steps = this.stepping();
    steps.at = Math.max(0, Math.min(steps.sentences.length - 1, steps.at + by));
    this.view.render();
  }

  /** Marks the current sentence, or takes it out of what is marked. @param {Source} source */
  markSentence(source) {
    const { at, sentences } = this.stepping();
    const place = sentences[at]?.place;
    if (!place) return;
    const { passages } = this;
    const around = passages.find((passage) => isWithin(passage, place));
    const others = passages.filter((passage) => passage !== around);
    const parts = around
      ? [...this.visibleParts([around[0], place[0]]), ...this.visibleParts([place[1], around[1]])]
      : [place];
    this.change(union([...others, ...parts]), source);
  }

  /** @param {Pressed} pressed */
  keys({ key }) {
    if (key === "ArrowDown") return () => this.step(1);
    if (key === "ArrowUp") return () => this.step(-1);
    const marks = key === "Enter" || this.view.keys.names.get(key) === "mark";
    return marks ? () => this.markSentence("key") : undefined;
  }

  /** @param {On} on */
  attach(on) {
    on(document, "selectionchange", () => this.renderMarker());
    // A click on it must not take the selection away.
    on(this.view.node("marker"), "pointerdown", (event) => event.preventDefault());
    return undefined;
  }
}
