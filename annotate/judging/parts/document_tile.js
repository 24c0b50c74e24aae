// A document in a small place: one of several on screen. Part of the cards for lists and for preferences.

const PAGE_CHIPS = 4;

/** The nodes of a page, for use with one document after the other. `title`: whether it has one of its own. */
function newPage(node, { title = true } = {}) {
  const page = { node, doc: null, text: null, id: null, title: null, shown: false };
  if (title) {
    page.title = node.appendChild(make("h2", { className: "cd-apart", dir: "auto" }));
    page.id = node.appendChild(make("div", { className: "cd-id cd-apart" }));
    page.id.dataset.name = "id";
  }
  page.chips = node.appendChild(make("div", { className: "cd-chips" }));
  page.pictures = node.appendChild(make("div", { className: "cd-pictures", hidden: true }));
  const text = node.appendChild(make("div", { className: "cd-text cd-apart", dir: "auto" }));
  page.sheet = newSheet(text);
  page.missing = node.appendChild(make("p", {
    className: "cd-note", hidden: true, textContent: "The text of this document has not been imported.",
  }));
  page.all = node.appendChild(make("button", { type: "button", className: "cd-small cd-all", hidden: true }));
  page.all.dataset.do = "show-all";
  return page;
}

function drawPage(page, doc) {
  if (page.doc === doc && page.text === doc.text) return;
  const isNew = page.doc !== doc;
  Object.assign(page, { doc, text: doc.text });
  drawText(page.sheet, doc);
  const missing = doc.text === null || doc.text === undefined;
  setHidden(page.missing, !missing);
  setHidden(page.all, missing || !doc.truncated);
  if (doc.truncated) page.all.textContent = `Show all (${figure(doc.length)} characters)`;
  if (!isNew) return;
  if (page.title) {
    page.title.textContent = forward(cut(nameOf(doc), 400));
    page.id.textContent = forward(cut(doc.doc_id, 200));
    page.id.classList.toggle("cd-double", !doc.title); // without a title the id stands in its place
  }
  drawChips(page.chips, doc.metadata, PAGE_CHIPS);
  drawPictures(page.pictures, doc.images);
  setLanguage(page.node, doc.metadata);
}

/** A picture is as large as its place, or as large as it is. */
onButton("enlarge", (_, button) => button.classList.toggle("cd-enlarged"));

onButton("more-chips", (_, button) => {
  const { pages } = button.closest("[data-part=card]").cleverdon;
  const page = pages().find(({ chips }) => chips === button.parentNode);
  if (page) drawChips(page.chips, page.doc.metadata, Infinity);
});

// ------------------------------------------------------------------------------------ terms of the topic

/** Highlights the topic's terms in the texts on screen, once they are painted. `segments` says which those are. */
function renderTerms(state, view, item, segments) {
  const wanted = state.own.marks?.topic !== false;
  if (!CAN_PAINT || !item) return;
  if (view.drawn.terms === item.unit.topic && view.drawn.termsWanted === wanted && !view.drawn.termsDue) return;
  if (view.drawn.terms !== item.unit.topic) paint("cd-topic-term", []);
  Object.assign(view.drawn, { terms: item.unit.topic, termsWanted: wanted, termsDue: false });
  cancelAnimationFrame(state.painted);
  clearTimeout(state.paintedTimer);
  state.painted = requestAnimationFrame(() => {
    state.paintedTimer = setTimeout(() => {
      if (state.view !== view || onScreen(state)?.unit !== item.unit) return;
      const { topic } = item.unit;
      item.unit.terms ??= termsOf(topic.title, topic.description);
      const ranges = wanted ? segments().flatMap((segment) => rangesAt(segment, placesIn(item.unit.terms, segment.text))) : [];
      paint("cd-topic-term", ranges);
    });
  });
}

function toggleTerms(state) {
  if (!CAN_PAINT) return tell(state, "This browser cannot highlight words.");
  const { topic = true } = state.own.marks ?? {};
  changeOwn(state, { marks: { ...state.own.marks, topic: !topic } });
  return tell(state, topic ? "Highlights are off." : "Highlights are on.");
}
