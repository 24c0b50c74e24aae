// Marking why a document is relevant: passages, by selecting them or sentence by sentence. Part of one module: see state.js.

const mayMark = (state) => Boolean(state.card.marking && onScreen(state)?.doc.text);

/** Why nothing can be marked just now, as a sentence; "" where it can. */
function markingRefusal(state) {
  if (!state.card.marking) return "Marking passages is turned off in this campaign.";
  if (!onScreen(state)) return "There is no document on screen.";
  return mayMark(state) ? "" : "This document has no text to mark.";
}

// ------------------------------------------------------------------------------------------ drawing

function renderPassages(state, view, item) {
  const { passages } = marksOf(state, item);
  const { drawn, sheet } = view;
  if (drawn.passages === passages && drawn.passagesOn === sheet.version) return;
  drawn.passages = passages;
  drawn.passagesOn = sheet.version;
  paint("cd-passage", passages.flatMap(([start, end]) => rangesBetween(sheet, start, end)));
  setHidden(view.markedLine, !passages.length);
  if (passages.length) setText(view, "markedWords", `${count(passages.length, "passage")} marked`);
}

const rangesBetween = (sheet, start, end) => stretchesOf(sheet, start, end).map(({ segment, begin, end: stop }) => rangeOver(segment, begin, stop));

// ---------------------------------------------------------------------------------------- selections

/** What is selected on the page, where that touches the text of the document: places in code points. */
function selectedPlace(view) {
  const range = selectedRange(view.card.getRootNode());
  if (!range || !view.sheet) return null;
  const { startContainer, startOffset, endContainer, endOffset } = range;
  const collapsed = startContainer === endContainer && startOffset === endOffset;
  if (collapsed && !view.text.contains(startContainer)) return null;
  const live = document.createRange();
  try {
    live.setStart(startContainer, startOffset);
    live.setEnd(endContainer, endOffset);
    if (!live.intersectsNode(view.text)) return null;
  } catch {
    return null; // a selection that begins or ends outside of the card, where the browser does not say where
  }
  const start = placeOf(view.sheet, startContainer, startOffset, false);
  return { start, end: collapsed ? start : placeOf(view.sheet, endContainer, endOffset, true), collapsed };
}

/** What of [start, end) is drawn, without the blanks around it and with whole signs. */
function visibleParts(sheet, start, end) {
  const parts = [];
  for (const { segment, begin, end: stop } of stretchesOf(sheet, start, end)) {
    const { text } = segment;
    const trimmed = trimmedPlace(text, edgeOf(text, begin, false), edgeOf(text, stop, true));
    if (trimmed) parts.push(trimmed.map((units) => segment.start + pointsIn(text, units)));
  }
  return parts;
}

function trimmedPlace(text, begin, end) {
  const part = text.slice(begin, end);
  const words = part.trim();
  if (!words) return null;
  const from = begin + part.indexOf(words);
  return [from, from + words.length];
}

// ------------------------------------------------------------------------------------------- changing

const overlapping = (passages, start, end) => passages.filter(([a, b]) => (start === end ? a <= start && start < b : a < end && start < b));

/** With these parts in, those they touch as one. */
function withParts(passages, parts) {
  const joined = [];
  for (const [start, end] of [...passages, ...parts].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** Marks the selection, or unmarks the passage around it. True if something was selected. */
function markSelection(state, source) {
  const item = onScreen(state);
  const { view } = state;
  const place = item && selectedPlace(view);
  if (!place) return false;
  const { passages } = marksOf(state, item);
  const parts = place.collapsed ? [] : visibleParts(view.sheet, place.start, place.end);
  const [first] = parts.length ? parts : [[place.start, place.start]];
  const last = parts.at(-1) ?? first;
  const around = passages.find(([start, end]) => start <= first[0] && last[1] <= end && first[0] < end);
  if (!around && !parts.length) return false;
  const next = around ? passages.filter((passage) => passage !== around) : withParts(passages, parts);
  document.getSelection()?.removeAllRanges();
  hideMarker(view);
  changeMarks(state, item, { passages: next }, source);
  return true;
}

function markOrStep(state, source) {
  const refusal = markingRefusal(state);
  if (refusal) return tell(state, refusal);
  if (markSelection(state, source)) return undefined;
  return setPanel(state, "sentences");
}

function clearPassages(state, source) {
  const item = onScreen(state);
  if (item) changeMarks(state, item, { passages: [] }, source);
}

// --------------------------------------------------------------- the small button beside a selection

function selectionChanged(state) {
  const { view } = state;
  if (!view?.marker) return;
  const place = mayMark(state) && view.sheet?.drawn ? selectedPlace(view) : null;
  const inside = place && overlapping(marksOf(state, onScreen(state)).passages, place.start, place.end)
    .some(([start, end]) => start <= place.start && place.end <= end);
  if (!place || (place.collapsed && !inside)) return hideMarker(view);
  setText(view, "markerWords", inside ? "Unmark" : "Mark");
  return placeMarker(view, place);
}

/** Above the beginning of what is selected, so that the next line can be read; it scrolls with the document. */
function placeMarker(view, { start, end, collapsed }) {
  const stretch = stretchesOf(view.sheet, start, collapsed ? start + 1 : end)[0];
  const box = stretch && boxOf(stretch.segment, stretch.begin);
  if (!box) return hideMarker(view);
  setHidden(view.marker, false);
  const place = view.document.getBoundingClientRect();
  const left = Math.min(Math.max(0, box.left - place.left), place.width - view.marker.offsetWidth - 8);
  const inSight = view.scroller.getBoundingClientRect().top - place.top; // what is selected may begin above it
  const top = Math.max(0, inSight + 4, box.top - place.top - view.marker.offsetHeight - 6);
  view.marker.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  return undefined;
}

function hideMarker(view) {
  if (view.marker) setHidden(view.marker, true);
}

// ---------------------------------------------------------------------------- sentence by sentence

const SENTENCES = globalThis.Intl?.Segmenter ? new Intl.Segmenter(undefined, { granularity: "sentence" }) : null;

const LONG_SENTENCE = 300;
const SENTENCE_MARKS = /\s[.;](?=\s)|[?!](?=\s)/g; // as texts without capitals set them apart

/** A sentence that is too long to be one, cut where signs or, failing these, the ends of lines let it be cut. */
function shorter(text, [begin, end], marks = SENTENCE_MARKS) {
  if (end - begin <= LONG_SENTENCE) return [[begin, end]];
  const cuts = [...text.slice(begin, end).matchAll(marks)].map((match) => begin + match.index + match[0].length);
  return [begin, ...cuts].map((from, i) => [from, cuts[i] ?? end]);
}

/** The sentences that are drawn: [start, end, words], places in code points. */
function sentencesOf(sheet) {
  const found = [];
  for (const segment of sheet.segments) {
    // A line end inside of a paragraph is none of a sentence, where lines are not kept as they are.
    const text = sheet.drawn.form === "text" ? segment.text.replace(/(?<=[^\n]{40})\r?\n(?=[^\n\r])/g, (end) => " ".repeat(end.length)) : segment.text;
    const parts = SENTENCES ? [...SENTENCES.segment(text)].map(({ index, segment: words }) => [index, index + words.length])
      : [...text.matchAll(/[^.!?\u3002\uff01\uff1f\n]+[.!?\u3002\uff01\uff1f\n]*/g)].map((match) => [match.index, match.index + match[0].length]);
    let points = 0;
    let at = 0;
    const cutParts = parts.flatMap((part) => shorter(text, part)).flatMap((part) => shorter(segment.text, part, /\n/g));
    for (const [begin, end] of cutParts) {
      const place = trimmedPlace(text, begin, end);
      if (!place) continue;
      const start = points + pointsIn(text.slice(at, place[0]), place[0] - at);
      points = start + pointsIn(text.slice(place[0], place[1]), place[1] - place[0]);
      [, at] = place;
      found.push([segment.start + start, segment.start + points, segment.text.slice(...place)]);
    }
  }
  return found;
}

/** The sentences of the drawn text; the current one stays, or is the first in sight. */
function stepping(state) {
  const { view } = state;
  const { steps } = state;
  if (steps?.doc === view.drawn.doc && steps.version === view.sheet.version) return steps;
  const sentences = sentencesOf(view.sheet);
  const place = steps?.doc === view.drawn.doc ? steps.sentences[steps.at]?.[0] ?? 0 : placeInSight(view)?.at ?? 0;
  const at = Math.max(0, sentences.findIndex(([, end]) => end > place));
  state.steps = { doc: view.drawn.doc, version: view.sheet.version, sentences, at, drawn: -1 };
  return state.steps;
}

function renderSentences(state, view) {
  const item = onScreen(state);
  if (!item || !view.sheet) return;
  const steps = stepping(state);
  const sentence = steps.sentences[steps.at];
  if (!sentence) return;
  const { passages } = marksOf(state, item);
  const isMarked = passages.some(([start, end]) => start <= sentence[0] && sentence[1] <= end);
  setText(view, "sentenceSays", `${isMarked ? "Marked. " : ""}${cut(sentence[2], 500)}`);
  setText(view, "sentenceCount", `${figure(steps.at + 1)} of ${figure(steps.sentences.length)}`);
  setText(view, "sentenceMark", isMarked ? "Unmark" : "Mark");
  if (steps.drawn === steps.at) return;
  const isNew = steps.drawn !== null; // else the card was mounted anew: nothing moves
  steps.drawn = steps.at;
  paint("cd-sentence", rangesBetween(view.sheet, sentence[0], sentence[1]));
  if (!isNew) return;
  const [stretch] = stretchesOf(view.sheet, sentence[0], sentence[1]);
  if (stretch) bringIntoSight(view, rangeOver(stretch.segment, stretch.begin, stretch.end, true));
}

function stepSentence(state, step) {
  const steps = stepping(state);
  steps.at = Math.max(0, Math.min(steps.sentences.length - 1, steps.at + step));
  refresh(state);
}

function markSentence(state, source) {
  const item = onScreen(state);
  const steps = stepping(state);
  const sentence = steps.sentences[steps.at];
  if (!item || !sentence) return;
  const [start, end] = sentence;
  const { passages } = marksOf(state, item);
  const isMarked = passages.some(([a, b]) => a <= start && end <= b);
  // Out of a longer passage only this sentence is taken.
  const next = isMarked ? passages.flatMap(([a, b]) => (a <= start && end <= b ? [...around(state, a, start), ...around(state, end, b)] : [[a, b]]))
    : withParts(passages, [[start, end]]);
  changeMarks(state, item, { passages: next }, source);
}

const around = (state, start, end) => (start < end ? visibleParts(state.view.sheet, start, end) : []);

function keysInSentences(state, event, { key }) {
  if (key === "ArrowDown") return () => stepSentence(state, 1);
  if (key === "ArrowUp") return () => stepSentence(state, -1);
  if (key === "Enter" || state.keyMap.get(key) === "mark") return () => markSentence(state, "key");
  return undefined;
}

// -------------------------------------------------------------------------------------------- actions

action("mark", (state, source) => markOrStep(state, source),
  { when: ({ card }) => Boolean(card.marking), refusal: "Marking passages is turned off in this campaign." });

onButton("mark-selection", (state) => markSelection(state, "click"));
onButton("mark-sentence", (state) => markSentence(state, "click"));
onButton("next-sentence", (state) => stepSentence(state, 1));
onButton("previous-sentence", (state) => stepSentence(state, -1));
onButton("clear-passages", (state) => clearPassages(state, "click"));

panel("sentences", {
  node: "sentencesPanel", beside: true, keys: keysInSentences, render: renderSentences,
  left: (state) => {
    state.steps = null;
    paint("cd-sentence", []);
  },
});
