// Finding signs in the document on screen. Part of one module: see state.js.

const MOST_HITS = 10_000;

function openFinder(state) {
  const { view } = state;
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  if (!item.doc.text) return tell(state, "This document has no text.");
  if (state.panel !== "finder") setPanel(state, "finder");
  view.finderWords.focus({ preventScroll: true });
  view.finderWords.select(); // what was sought in another document is still there
  if (state.finder?.hits.length) showHit(state);
  return undefined;
}

/** Searches if the words or the text have changed; the first match at or below the visible text becomes current. */
function seek(state, { go = false } = {}) {
  const { view } = state;
  const item = onScreen(state);
  if (!item) return;
  const text = item.doc.text ?? "";
  const sought = view.finderWords.value;
  const { finder } = state;
  if (finder?.text === text && finder.sought === sought) return;
  const index = finder?.text === text ? finder.index : searchable(text);
  const hits = findSigns(index, sought).slice(0, MOST_HITS);
  const before = finder?.text === text ? finder.hits[finder.at]?.[0] : undefined;
  const place = before ?? unitsIn(text, placeInSight(view)?.at ?? 0);
  const next = hits.findIndex(([begin]) => begin >= place);
  state.finder = { text, sought, index, hits, at: hits.length ? Math.max(0, next) : -1, version: null };
  if (go && hits.length) showHit(state);
}

function stepHit(state, step) {
  seek(state);
  const { hits, at } = state.finder;
  if (!hits.length) return renderFinder(state, state.view);
  state.finder.at = (at + step + hits.length) % hits.length;
  return showHit(state);
}

/** Scrolls to the current match, and unfolds the text around it if needed. */
function showHit(state) {
  const { view, finder } = state;
  const [begin, end] = finder.hits[finder.at];
  const { doc } = onScreen(state);
  const place = [pointsIn(finder.text, begin), pointsIn(finder.text, end)];
  if (isFolded(state, doc)) {
    const gaps = piecesOf(doc, readingOf(doc).opened).filter((piece) => piece.gap && piece.start < place[1] && piece.end > place[0]);
    const here = doc.truncated ? pointsIn(doc.text, doc.text.length) : Infinity;
    const opened = gaps.map(({ start, end: stop }) => [start, Math.min(stop, here)]);
    if (opened.length) changeReading(doc, { opened: [...readingOf(doc).opened, ...opened] });
  }
  refresh(state);
  const [stretch] = stretchesOf(view.sheet, ...place);
  if (stretch) bringIntoSight(view, rangeOver(stretch.segment, stretch.begin, stretch.end, true));
}

/** All hits that are drawn, the present one above them, and how many there are. */
function renderFinder(state, view) {
  seek(state); // the text may have come whole since
  const { finder } = state;
  if (!finder) return;
  const { hits, at, sought } = finder;
  const some = hits.length >= MOST_HITS ? `more than ${figure(MOST_HITS)}` : figure(hits.length);
  setText(view, "finderSays", !sought.trim() ? "" : hits.length ? `${figure(at + 1)} of ${some}` : "no matches");
  const { doc } = onScreen(state) ?? {};
  setHidden(view.finderMore, !doc?.truncated);
  if (doc?.truncated) setText(view, "finderMoreSays", `Searching the first ${figure(pointsIn(doc.text, doc.text.length))} characters only.`);
  const key = `${view.sheet.version} ${at}`;
  if (finder.version === key) return;
  finder.version = key;
  const all = hits.flatMap(([begin, end]) => rangesOfHit(view.sheet, begin, end));
  paint("cd-hit", all);
  paint("cd-hit-now", at < 0 ? [] : rangesOfHit(view.sheet, ...hits[at]));
}

/** The ranges of a match, whose place is in UTF-16 units of the loaded text. */
function rangesOfHit(sheet, begin, end) {
  const ranges = [];
  for (const segment of sheet.segments) {
    if (segment.from === null || segment.from >= end || segment.from + segment.text.length <= begin) continue;
    const range = rangeOver(segment, Math.max(0, begin - segment.from), Math.min(segment.text.length, end - segment.from));
    if (range) ranges.push(range);
  }
  return ranges;
}

function leaveFinder(state) {
  state.finder = null;
  paint("cd-hit", []);
  paint("cd-hit-now", []);
}

function reactionInFinder(state, event) {
  if (event.key === "Escape") return () => setPanel(state, null);
  if (event.key === "Enter") return () => stepHit(state, event.shiftKey ? -1 : 1);
  if (event.key === "ArrowDown") return () => stepHit(state, 1);
  if (event.key === "ArrowUp") return () => stepHit(state, -1);
  return null;
}

function finderChanged(state) {
  seek(state, { go: true });
  renderFinder(state, state.view);
}

action("find", (state) => openFinder(state), { panel: "finder" });

onButton("next-hit", (state) => stepHit(state, 1));
onButton("previous-hit", (state) => stepHit(state, -1));

panel("finder", {
  node: "finderPanel", focus: "finderWords", beside: true, field: "finderWords", inField: reactionInFinder,
  render: renderFinder, left: leaveFinder,
});
