// Marking why a document is relevant: passages, by selecting them or sentence by sentence.

/** @import { DrawnDocument, Part, Place, Segment, Source, View } from "../types.js" */

import { marksOf } from "../../core/state.js";
import { cut, setHidden, setPressed } from "../frame/nodes.js";
import { count, figure } from "../frame/phrases.js";
import { paint } from "./highlights.js";
import { sentencesOf, union, wholeSigns } from "./places.js";
import { liveRange, selectedRange } from "./selection.js";
import { placeOf, rangesOf, stretchesOf } from "./text.js";

/** The sentences of the text as it is drawn, and the current one. */
/** @typedef {{ segments: Segment[], sentences: { place: Place, words: string }[], at: number }} Steps */

/** @param {View} view @param {DrawnDocument} drawn @returns {Part} */
export function passages(view, drawn) {
  const { card } = view;
  const scroller = view.node("scroller");
  drawn.marksByNumber = Boolean(view.data.card.marking);
  /** Passages for which the numbers of sentences were last drawn. @type {Place[]} */
  let numbered = [];
  /** @type {Steps | null} */
  let steps = null;
  /** The sentence that was brought into sight last. @type {unknown} */
  let shown = null;

  function marked() {
    const { item, state } = view;
    return (item && marksOf(card.kind, state, item).passages) ?? [];
  }

  /** The passage around a place. @param {Place} place */
  const around = ([start, end]) => marked().find((each) => each[0] <= start && start < each[1] && end <= each[1]);

  /** @param {Place[]} places @param {Source} source */
  const change = (places, source) => card.dispatch({ type: "mark", changes: { passages: places }, ...card.by(source) });

  /** Takes a passage out of what is marked, and adds others. @param {Place | undefined} former @param {Place[]} added @param {Source} source */
  const replace = (former, added, source) =>
    change(union([...marked().filter((each) => each !== former), ...added]), source);

  /** @param {Source} source */
  function markOrStep(source) {
    const [doc] = view.item?.unit.documents ?? [];
    if (!doc) return card.say("There is no document on screen.");
    if (!doc.text) return card.say("This document has no text to mark.");
    drawn.uncover();
    return markSelection(source) ? undefined : view.setPanel("sentences");
  }

  // ------------------------------------------------------------------------------------------- selections

  /** The drawn stretches of a place, extended to whole characters and without surrounding white space. @param {Place} place */
  const visibleParts = (place) =>
    stretchesOf(drawn.segments, place).flatMap(({ segment, begin, end }) =>
      wholeSigns(segment.text, [begin, end]).map((part) => segment.placed(part)),
    );

  /** The selected part of the text and the passage around it; null if nothing is selected. A click selects no part. */
  function selected() {
    const { text } = drawn.nodes;
    const root = text.getRootNode();
    const range = selectedRange(root);
    // Some browsers do not report where a selection outside the card begins or ends.
    if (range?.startContainer.getRootNode() !== root || range.endContainer.getRootNode() !== root) return null;
    if (!liveRange(range).intersectsNode(text)) return null;
    const start = placeOf(drawn.segments, range.startContainer, range.startOffset, false);
    const end = placeOf(drawn.segments, range.endContainer, range.endOffset, true);
    const parts = visibleParts([start, end]);
    const first = parts[0]?.[0] ?? start;
    const former = around([first, parts.at(-1)?.[1] ?? first]);
    return former || parts.length ? { first, parts, former } : null;
  }

  /** Marks the selection, or unmarks the passage around it. True if something was selected. @param {Source} source */
  function markSelection(source) {
    const selection = selected();
    if (!selection) return false;
    document.getSelection()?.removeAllRanges();
    hideMarkers(true);
    const { parts, former } = selection;
    replace(former, former ? [] : parts, source);
    return true;
  }

  /** The small buttons above a selection: mark it, and make a nugget of it. */
  function markers() {
    const { marker, nuggetMarker } = view.nodes;
    return [view.data.card.marking ? marker : undefined, nuggetMarker].filter((node) => node !== undefined);
  }

  /** @param {boolean} hidden */
  function hideMarkers(hidden) {
    for (const node of markers()) setHidden(node, hidden);
  }

  /** Shows the small buttons above a selection, so that the next line can be read; they scroll with the document. */
  function renderMarker() {
    const selection = markers().length && view.item ? selected() : null;
    const { first = 0, former } = selection ?? {};
    const [stretch] = selection ? stretchesOf(drawn.segments, [first, first + 1]) : [];
    const box = stretch?.segment.box(stretch.begin);
    hideMarkers(!box);
    if (!box) return;
    view.setText("markerWords", former ? "Unmark" : "Mark");
    const page = view.node("document").getBoundingClientRect();
    const width = markers().reduce((sum, node) => sum + node.offsetWidth + 8, 0);
    let left = Math.min(Math.max(0, box.left - page.left), page.width - width);
    const inSight = scroller.getBoundingClientRect().top - page.top; // what is selected may begin above it
    for (const marker of markers()) {
      const top = Math.max(0, inSight + 4, box.top - page.top - marker.offsetHeight - 6);
      marker.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
      left += marker.offsetWidth + 8;
    }
  }

  // ---------------------------------------------------------------------------------- sentence by sentence

  /** Returns the sentence of an answer with most words of the nugget. @param {Steps["sentences"]} sentences */
  function likeliest(sentences) {
    const terms = drawn.doc?.terms ?? [];
    const counts = sentences.map(({ place }) => terms.filter(([at]) => place[0] <= at && at < place[1]).length);
    return counts.indexOf(Math.max(0, ...counts));
  }

  /** The sentences of the drawn text; the current one stays, or is the first in sight. */
  function stepping() {
    const { segments, nodes } = drawn;
    if (steps?.segments === segments) return steps;
    const isAnswer = drawn.doc?.sentences !== undefined;
    const sentences = segments.flatMap((segment) => {
      /** @type {Place[]} */
      const parts = isAnswer
        ? [[0, segment.text.length]]
        : sentencesOf(segment.text, nodes.text.dataset.form !== "text");
      return parts.map((part) => ({ place: segment.placed(part), words: segment.text.slice(...part) }));
    });
    const from = steps ? steps.sentences[steps.at]?.place[0] : drawn.inSight(scroller)?.place;
    const at = isAnswer && !steps ? likeliest(sentences) : sentences.findIndex(({ place }) => place[1] > (from ?? 0));
    steps = { segments, sentences, at: Math.max(0, at) };
    return steps;
  }

  function renderSentence() {
    const { at, segments, sentences } = stepping();
    const sentence = sentences[at];
    if (!sentence) return;
    const { place, words } = sentence;
    const former = around(place);
    view.setText("sentenceSays", `${former ? "Marked. " : ""}${cut(words, 500)}`);
    view.setText("sentenceCount", `${figure(at + 1)} of ${figure(sentences.length)}`);
    view.setText("sentenceMark", former ? "Unmark" : "Mark");
    paint("cd-sentence", [sentence], () => rangesOf(segments, place));
    if (shown === sentence) return;
    shown = sentence;
    const [range] = rangesOf(segments, place);
    if (range) bringIntoSight(liveRange(range));
  }

  /** Below the panel that lies over the top of the document, and sideways where lines are kept. @param {Range} range */
  function bringIntoSight(range) {
    const box = range.getBoundingClientRect();
    if (!box.height) return;
    const place = scroller.getBoundingClientRect();
    const covered = Math.max(0, view.node("sentencesPanel").getBoundingClientRect().bottom - place.top);
    if (box.top < place.top + covered + 4 || box.bottom > place.bottom - 4)
      scroller.scrollTop += box.top - place.top - Math.max(covered + 8, place.height / 3);
    const { text } = drawn.nodes;
    const lines = text.getBoundingClientRect();
    if (box.left < lines.left || box.right > lines.right) text.scrollLeft += box.left - lines.left - lines.width / 3;
  }

  /** @param {number} by */
  function step(by) {
    const { at, sentences } = stepping();
    steps = { ...stepping(), at: Math.max(0, Math.min(sentences.length - 1, at + by)) };
    view.render();
  }

  /** Marks the current sentence, or takes it out of what is marked. @param {Source} source */
  function markSentence(source) {
    const { at, sentences } = stepping();
    const place = sentences[at]?.place;
    if (place) markPlace(place, source);
  }

  /** @param {Place} place @param {Source} source */
  function markPlace(place, source) {
    const former = around(place);
    const rest = former && [...visibleParts([former[0], place[0]]), ...visibleParts([place[1], former[1]])];
    replace(former, rest ?? [place], source);
  }

  /** Numbers of marked sentences of an answer; `brings` the first of them into sight. @param {Place[]} places @param {boolean} brings */
  function drawNumbers(places, brings) {
    if (numbered !== places) {
      for (const number of drawn.nodes.text.querySelectorAll(".cd-number")) {
        const start = Number(/** @type {HTMLElement} */ (number).dataset.start);
        setPressed(
          /** @type {HTMLElement} */ (number),
          places.some((place) => place[0] <= start && start < place[1]),
        );
      }
    }
    numbered = places;
    const [range] = brings && places[0] ? rangesOf(drawn.segments, places[0]) : [];
    if (range) bringIntoSight(liveRange(range));
  }

  /** The selected text, the passage around a click in it, or the current sentence: its places and words. */
  drawn.quote = () => {
    const { parts = [], former } = selected() ?? {};
    const current = steps?.sentences[steps.at]?.place;
    const places = parts.length ? parts : former ? visibleParts(former) : current ? [current] : [];
    const stretches = places.flatMap((place) => stretchesOf(drawn.segments, place));
    return { places, words: stretches.map(({ segment, begin, end }) => segment.text.slice(begin, end)).join(" ") };
  };

  return {
    actions: {
      mark: {
        run: markOrStep,
        when: () => Boolean(view.data.card.marking),
        refusal: "Marking passages is turned off in this campaign.",
      },
    },
    clicks: {
      "mark-selection": () => markSelection("click"),
      "mark-sentence": () => markSentence("click"),
      "mark-numbered": ({ dataset }) => {
        const [stretch] = stretchesOf(drawn.segments, [Number(dataset.start), Number(dataset.start) + 1]);
        if (view.item && stretch) markPlace(stretch.segment.placed([0, stretch.segment.text.length]), "click");
      },
      "next-sentence": () => step(1),
      "previous-sentence": () => step(-1),
      "clear-passages": () => change([], "click"),
    },
    panels: {
      sentences: {
        beside: true,
        isOfUnit: true,
        keys(_, { key }) {
          if (key === "ArrowDown") return () => step(1);
          if (key === "ArrowUp") return () => step(-1);
          const marks = key === "Enter" || view.keys.names.get(key) === "mark";
          return marks ? () => markSentence("key") : undefined;
        },
        render: renderSentence,
        left() {
          [steps, shown] = [null, null];
          paint("cd-sentence", [], () => []);
        },
      },
    },
    attach(on) {
      on(document, "selectionchange", renderMarker);
      // A click on it must not take the selection away.
      for (const node of markers()) on(node, "pointerdown", (event) => event.preventDefault());
    },
    render(item, turned) {
      const { segments } = drawn;
      const places = marked();
      if (drawn.doc?.sentences) drawNumbers(places, turned && Boolean(item?.entry));
      if (turned) hideMarkers(true);
      paint("cd-passage", places.length ? [places, segments] : [], () =>
        places.flatMap((place) => rangesOf(segments, place)),
      );
      view.setHidden("markedLine", !places.length);
      if (places.length) view.setText("markedWords", `${count(places.length, "passage")} marked`);
    },
  };
}
