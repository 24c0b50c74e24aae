// Drawing the list: one row for each document, used again for the next list. Part of one module: see units.js.

const LINE = 140; // characters of a text that is not open, for each of its lines: more than one can hold

function renderItem(state, view, item, turned) {
  setHidden(view.list, item === null);
  if (turned && view.scrolled) { // before the new texts, while the layout is still valid
    view.documents.scrollTop = 0;
    view.scrolled = false;
  }
  if (turned && item && view.card.getRootNode().activeElement?.closest?.("[data-part=list]")) letGo(view);
  renderRows(state, view, item);
  renderAnswers(state, view, item);
  renderTerms(state, view, item, () => view.rows.slice(0, item.unit.documents.length).flatMap(segmentsOf));
}

function renderRows(state, view, item) {
  if (!item) return;
  const { documents, chosen, at, open } = item.unit;
  while (view.rows.length < documents.length) view.rows.push(addRow(view, view.rows.length));
  if (view.drawn.count !== documents.length) {
    view.drawn.count = documents.length;
    view.rows.forEach(({ node }, i) => setHidden(node, i >= documents.length));
    fitLines(view);
  }
  documents.forEach((doc, i) => {
    const row = view.rows[i];
    if (row.doc !== doc || row.text !== doc.text || row.isOpen !== (open === i)) {
      renderRow(row, doc, open === i, view.lines * LINE);
      view.drawn.termsDue = true;
    }
    const ticked = chosen.has(doc.doc_id);
    if (row.ticked !== ticked) {
      row.ticked = ticked;
      row.tick.setAttribute("aria-checked", String(ticked));
      row.node.classList.toggle("cd-chosen", ticked);
    }
    if (row.isAt !== (at === i)) {
      row.isAt = at === i;
      row.node.classList.toggle("cd-at", row.isAt);
    }
  });
}

function renderRow(row, doc, isOpen, most) {
  const { title, id, lines, open } = row;
  const missing = doc.text === null || doc.text === undefined;
  if (row.doc !== doc) {
    title.textContent = forward(cut(nameOf(doc), 300));
    id.textContent = doc.title ? forward(cut(doc.doc_id, 100)) : "";
    open.setAttribute("aria-label", `Full text of ${cut(nameOf(doc), 100)}`);
  }
  const text = missing ? "The text of this document has not been imported." : doc.text;
  row.preview = text.slice(0, most).trimStart();
  lines.textContent = forward(row.preview);
  if (row.isOpen !== isOpen) {
    open.setAttribute("aria-expanded", String(isOpen));
    setHidden(lines, isOpen);
    setHidden(row.whole, !isOpen);
  }
  if (isOpen) drawPage(row.page ??= newPage(row.whole, { title: false }), doc);
  Object.assign(row, { doc, text: doc.text, isOpen });
}

/** Where the topic's terms are looked for. */
function segmentsOf({ title, lines, preview, isOpen, page }) {
  const whole = { start: 0, from: null, text: title.textContent, root: title };
  return isOpen ? [whole, ...page.sheet.segments] : [whole, { start: 0, from: null, text: preview, root: lines }];
}

/** The key that chooses a document; those behind the tenth have the cursor alone. */
const digitOfRow = (i) => (i < 9 ? String(i + 1) : i === 9 ? "0" : "");

function addRow(view, i) {
  const node = make("li", { className: "cd-option" });
  node.dataset.at = i;
  const tick = make("div", { className: "cd-tick", tabIndex: 0 });
  tick.dataset.do = "choose";
  const single = mostChosen(view.state) === 1;
  tick.setAttribute("role", single ? "button" : "checkbox");
  tick.setAttribute("aria-labelledby", `cd-option-${i}`);
  const cap = make("kbd", { textContent: digitOfRow(i) });
  cap.hidden = !digitOfRow(i);
  tick.append(cap, make("i", { className: "cd-box" }));
  const said = make("div", { className: "cd-said" });
  said.dataset.do = "open-row";
  const title = make("h3", { className: "cd-apart", dir: "auto", id: `cd-option-${i}` });
  const id = make("span", { className: "cd-id cd-apart" });
  const lines = make("p", { className: "cd-lines cd-apart", dir: "auto", id: `cd-lines-${i}` });
  tick.setAttribute("aria-describedby", lines.id);
  said.append(title, id, lines);
  const open = make("button", { type: "button", className: "cd-unfold" });
  open.dataset.do = "open-row";
  const whole = make("div", { className: "cd-whole cd-document", hidden: true });
  node.append(tick, said, open, whole);
  view.list.append(node);
  return {
    node, tick, title, id, lines, open, whole, page: null, preview: "", doc: null, text: null, isOpen: null, ticked: null, isAt: null,
  };
}

/** As many lines of each text as let the whole list be in sight, from two to six. */
function fitLines(view) {
  const rows = Math.max(1, view.drawn.count ?? 1);
  const lines = Math.max(2, Math.min(6, Math.floor((view.documents.clientHeight / rows - 38) / 20)));
  if (view.lines === lines) return;
  view.lines = lines;
  view.list.style.setProperty("--cd-lines", String(lines));
  for (const row of view.rows) row.doc = null; // they hold more now, or less
}

function renderAnswers(state, view, item) {
  const chosen = item && mostChosen(state) > 1 ? item.unit.chosen.size : 0;
  const words = chosen ? `Submit ${chosen} of up to ${Math.max(chosen, mostChosen(state))}` : "Submit";
  setText(view, "doneWords", words);
  const { decision = item?.unit.before } = item?.entry ?? {};
  const kind = decision?.kind === "chosen" && !decision.chosen.length ? "none" : decision?.kind;
  const mark = decision ? `${kind}${item.entry ? "" : " before"}` : "";
  if (view.drawn.mark === mark) return;
  view.drawn.mark = mark;
  for (const [node, name] of [[view.none, "none"], [view.cannotJudge, "cannot judge"]]) {
    node.setAttribute("aria-pressed", String(mark === name));
    node.classList.toggle("cd-former", mark === `${name} before`);
  }
}

function heard({ unit }) {
  return `${nameOfTopic(unit.topic)}: ${count(unit.documents.length, "document")}`;
}

function attachOwn(state, view, on) {
  view.rows ??= [];
  view.pages = () => view.rows.flatMap(({ page }) => page ?? []);
  const single = mostChosen(state) === 1;
  setHidden(view.done, single);
  view.answers.style.setProperty("--cd-grades", single ? 1 : 2);
  view.answers.style.setProperty("--cd-grades-narrow", single ? 1 : 2);
  on(view.documents, "scroll", () => { view.scrolled = true; }, { passive: true });
  on(view.list, "focusin", ({ target }) => {
    const at = Number(target.closest("[data-at]")?.dataset.at ?? -1);
    const item = onScreen(state);
    if (!item || at === item.unit.at || !item.unit.documents[at]) return;
    item.unit.at = at;
    renderRows(state, view, item);
  });
  on(window, "resize", () => {
    fitLines(view);
    refresh(state);
  });
}
