// Highlights in texts, without a change of their nodes (CSS Custom Highlight API). Part of every card.

const CAN_PAINT = Boolean(globalThis.CSS?.highlights && globalThis.Highlight && globalThis.StaticRange);

/** Every highlight of the card, the later one over the former: their looks are in the style sheets. */
const PAINTS = ["cd-passage", "cd-topic-term", "cd-own-word", "cd-sentence", "cd-hit", "cd-hit-now"];

/** Puts a highlight on these ranges, and takes it off all others. */
function paint(name, ranges) {
  if (!CAN_PAINT) return;
  const former = CSS.highlights.get(name);
  if (!ranges.length) {
    former?.clear();
    return;
  }
  const highlight = new Highlight(...ranges.slice(0, MOST_RANGES));
  highlight.priority = PAINTS.indexOf(name);
  CSS.highlights.set(name, highlight);
}

const MOST_RANGES = 5_000;

/** Removes all highlights when the card goes away. */
function paintNothing() {
  if (CAN_PAINT) for (const name of PAINTS) CSS.highlights.delete(name);
}

/** Ranges for places in a segment, as {@link findTerms} gives them. */
function rangesAt(segment, places) {
  const ranges = [];
  for (let i = 0; i < places.length && ranges.length < MOST_RANGES; i += 2) {
    const range = rangeOver(segment, places[i], places[i + 1]);
    if (range) ranges.push(range);
  }
  return ranges;
}
