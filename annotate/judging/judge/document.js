// The document on screen: its title, text, what is known of it, its pictures. Part of one module: see state.js.

/** How a document is read: whole or folded, and what was opened of it. The choice of a moment holds for that document only. */
const readings = new WeakMap();

const NOTHING_OPENED = [];

/** Panels that are about the document on screen, and go with it. */
const DOCUMENT_PANELS = new Set(["picture", "finder", "sentences"]);

function leaveDocumentPanel(state) {
  const { left } = PANELS[state.panel];
  state.panel = null;
  left?.(state);
}

const readingOf = (doc) => readings.get(doc) ?? { whole: null, opened: NOTHING_OPENED, chips: false };

const changeReading = (doc, changes) => readings.set(doc, { ...readingOf(doc), ...changes });

/** Whether only the passages of a document are shown that match its topic. */
function isFolded(state, doc) {
  return doc.excerpts?.length > 0 && !(readingOf(doc).whole ?? state.own.long === "whole");
}

function renderDocument(state, view, item) {
  const doc = item?.doc ?? null;
  setHidden(view.document, doc === null);
  if (!doc) return;
  const missing = doc.text === null || doc.text === undefined;
  const reading = readingOf(doc);
  const folded = isFolded(state, doc);
  view.sheet ??= newSheet(view.text);
  const isNew = view.drawn.doc !== doc;
  drawText(view.sheet, doc, folded ? reading.opened : null);
  setText(view, "title", nameOf(doc));
  setText(view, "docId", doc.doc_id);
  setHidden(view.docId, !doc.title); // without a title the id stands in its place
  setHidden(view.calibration, !doc.calibration);
  setHidden(view.missing, !missing);
  renderMore(state, view, doc, folded);
  if (view.drawn.images !== doc.images) drawPictures(view.pictures, doc.images);
  view.drawn.images = doc.images;
  if (isNew || view.drawn.chipsOpen !== reading.chips) drawChips(view.chips, doc.metadata, reading.chips ? Infinity : CHIPS);
  view.drawn.chipsOpen = reading.chips;
  if (isNew) {
    const alone = !doc.text && !missing && doc.images?.length > 0;
    if (view.drawn.alone !== alone) view.document.classList.toggle("cd-alone", alone);
    view.drawn.alone = alone;
    setLanguage(view.title, doc.metadata);
    setLanguage(view.text, doc.metadata);
    hideMarker(view);
  }
  view.drawn.doc = doc;
  renderTerms(state, view, item);
  renderPassages(state, view, item);
}

/** What is not shown of a long text, and how it is had. */
function renderMore(state, view, doc, folded) {
  const cutOff = doc.truncated && !folded && doc.text !== null && doc.text !== undefined;
  setHidden(view.more, !cutOff);
  if (cutOff) {
    setText(view, "showAll", `Show all (${figure(doc.length)} characters)`);
    setText(view, "cap", state.textCap ? `Showing the first ${figure(state.textCap)} characters.` : "");
  }
  setHidden(view.folding, !doc.excerpts?.length);
  if (!doc.excerpts?.length) return;
  const kept = readingOf(doc).opened.length ? "Showing passages that match the topic, and those you opened." : whatIsKept(state, doc);
  setText(view, "foldingSays", folded ? kept : "Showing the full text.");
  setText(view, "foldingDo", folded ? `Show all (${figure(doc.length)} characters)` : "Show passages only");
}

/** Where nothing matches, the server gives the beginning alone. */
function whatIsKept(state, { excerpts: [[start, , words], ...others] }) {
  const none = start === 0 && !others.length && !placesIn(lexiconOf(state, shownTopicId(state)).topic, words).length;
  return none ? "Showing only the beginning: no passage matches the topic." : "Showing only passages that match the topic.";
}

// -------------------------------------------------------------------------------------- long documents

/** Whether there is more of a document than is shown, or was. */
const isLong = (item) => !item || Boolean(item.doc.excerpts?.length || item.doc.truncated);

/** Shows the whole text, or only its passages again; of a text that was cut, the rest is fetched. */
async function showWhole(state) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const { doc } = item;
  if (!doc.excerpts?.length) return showAll(state);
  const folded = isFolded(state, doc);
  if (folded && doc.truncated && !await fetchWhole(state, item)) return undefined;
  return keepPlace(state, () => changeReading(doc, { whole: folded, opened: NOTHING_OPENED }));
}

async function showAll(state) {
  const item = onScreen(state);
  if (item?.doc.truncated) await fetchWhole(state, item);
}

/** True where the whole text is here now. */
async function fetchWhole(state, { queryId, doc }) {
  tell(state, "Loading the full text …");
  const { notice } = state;
  let whole;
  try {
    whole = await post(state, "document", { query_id: queryId, doc_id: doc.doc_id });
    if (typeof whole?.text !== "string") throw new Failure(-1);
  } catch {
    if (onScreen(state)?.doc === doc) tell(state, "The full text could not be loaded. Try again.");
    refresh(state);
    return false;
  }
  if (state.notice === notice) tell(state, ""); // what was said meanwhile stays
  keepPlace(state, () => Object.assign(doc, { text: whole.text, html: whole.html ?? null, truncated: false }));
  return true;
}

/** Shows the hidden text between two passages. */
async function openGap(state, button) {
  const item = onScreen(state);
  if (!item) return;
  const { doc } = item;
  const gap = [Number(button.dataset.start), Number(button.dataset.end)];
  if (doc.truncated && gap[1] > pointsIn(doc.text, doc.text.length) && !await fetchWhole(state, item)) return;
  keepPlace(state, () => changeReading(doc, { opened: [...readingOf(doc).opened, gap] }));
}

/** Redraws the document after a change, keeping the visible text in place. */
function keepPlace(state, change) {
  const { view } = state;
  const place = view?.sheet && placeInSight(view);
  change();
  refresh(state);
  if (!place || view.drawn.doc !== place.doc) return;
  const top = topOf(view, place.at);
  if (top !== null) view.scroller.scrollTop += top - place.top;
}

/** The first letter of the text that is in sight; null while the beginning of the text is. */
function placeInSight(view) {
  const edge = view.scroller.getBoundingClientRect().top;
  if (view.text.getBoundingClientRect().top >= edge) return null;
  for (const segment of view.sheet.segments) {
    const box = segment.root.getBoundingClientRect();
    if (box.bottom <= edge || !segment.text) continue;
    let low = 0;
    let high = segment.text.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((boxOf(segment, middle)?.bottom ?? 0) > edge) high = middle;
      else low = middle + 1;
    }
    const top = boxOf(segment, low)?.top;
    if (top !== undefined) return { doc: view.drawn.doc, at: segment.start + pointsIn(segment.text, low), top };
  }
  return null;
}

/** Where a place of the text is now, or what follows it where it is left out. */
function topOf(view, at) {
  for (const segment of view.sheet.segments) {
    const units = unitsIn(segment.text, Math.max(0, at - segment.start));
    if (units < segment.text.length) return boxOf(segment, units)?.top ?? null;
  }
  return null;
}

/** The box of one letter; that of a letter after it where the one has none, as at the end of a line. */
function boxOf(segment, units) {
  for (let at = units; at < Math.min(units + 40, segment.text.length); at += 1) {
    const box = rangeOver(segment, at, at + 1, true)?.getClientRects()[0];
    if (box?.height) return box;
  }
  return null;
}

/** Brings a range into sight, below what lies over the top of the document, and sideways where lines are kept. */
function bringIntoSight(view, range) {
  const box = range?.getBoundingClientRect();
  if (!box?.height) return;
  const place = view.scroller.getBoundingClientRect();
  const over = [view.finderPanel, view.sentencesPanel].find((node) => !node.hidden);
  const covered = over ? Math.max(0, over.getBoundingClientRect().bottom - place.top) : 0;
  if (box.top < place.top + covered + 4 || box.bottom > place.bottom - 4) {
    view.scroller.scrollTop += box.top - place.top - Math.max(covered + 8, place.height / 3);
  }
  const lines = view.text.getBoundingClientRect();
  if (box.left < lines.left || box.right > lines.right) view.text.scrollLeft += box.left - lines.left - lines.width / 3;
}

// --------------------------------------------------------------------------------------------- pictures

const pictureButtons = (view) => [...view.pictures.querySelectorAll("[data-picture]")];

/** Shows the pictures of the document large, one after the other, and then the document again. */
function showPicture(state, at) {
  const item = onScreen(state);
  if (!item) return oneMoment(state);
  const pictures = pictureButtons(state.view).map(({ dataset }) => Number(dataset.picture));
  const now = state.panel === "picture" ? pictures.indexOf(state.pictureShown) : -1;
  const next = at ?? pictures[now + 1];
  if (next === undefined) return setPanel(state, null);
  state.pictureShown = next;
  if (state.panel === "picture") return refresh(state);
  return setPanel(state, "picture");
}

function renderPicture(state, view) {
  const doc = onScreen(state)?.doc;
  const image = doc?.images?.filter(({ src }) => pictureAddress(src))[state.pictureShown];
  if (!image || view.drawn.picture === image) return;
  view.drawn.picture = image;
  const all = pictureButtons(view);
  setText(view, "pictureAlt", image.alt ?? "");
  setText(view, "pictureCount", all.length > 1 ? `${all.findIndex(({ dataset }) => Number(dataset.picture) === state.pictureShown) + 1} of ${all.length}` : "");
  const button = make("button", { type: "button", title: "Switch between full size and fit" });
  button.dataset.do = "picture-size";
  button.setAttribute("aria-label", `${image.alt || "Picture"}: switch between full size and fit`);
  button.append(picture(image));
  view.large.replaceChildren(button);
  view.large.classList.remove("cd-own-size");
  setHidden(view.pictureNext, all.length < 2);
}

/** Pictures of the documents that come next, of those that are files of the campaign. */
function fetchPictures(state) {
  for (const doc of state.queue.slice(1, 3)) {
    for (const { src, link } of doc.images ?? []) if (!link && isFile(src)) new Image().src = src;
  }
}

// ---------------------------------------------------------------------------------------------- actions

action("whole", (state) => showWhole(state), { when: (state) => isLong(onScreen(state)), refusal: "This is the full text." });
action("picture", (state) => showPicture(state),
  { when: (state) => !onScreen(state) || pictureButtons(state.view).length > 0, refusal: "This document has no pictures." });

onButton("show-all", (state) => showAll(state));
onButton("open-gap", (state, button) => openGap(state, button));
onButton("more-chips", (state) => {
  changeReading(onScreen(state).doc, { chips: true });
  refresh(state);
});
onButton("enlarge", (state, button) => showPicture(state, Number(button.dataset.picture)));
onButton("picture-size", (state) => state.view.large.classList.toggle("cd-own-size"));

panel("picture", {
  node: "picturePanel", beside: true, render: renderPicture,
  left: ({ view }) => { if (view) view.drawn.picture = null; },
});
