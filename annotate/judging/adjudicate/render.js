// Drawing the document, and what annotators said of it. Part of one module: see units.js.

function renderItem(state, view, item, turned) {
  if (turned) scrollBack(view);
  setHidden(view.document, item === null);
  setHidden(view.opinions, item === null);
  renderMarks(view, item);
  view.names.setAttribute("aria-pressed", String(Boolean(state.named)));
  if (!item) return;
  const { page } = view;
  drawPage(page, item.unit.documents[0]);
  renderOpinions(state, view, item.unit);
  if (view.drawn.passagesOf !== item.unit || view.drawn.passagesOn !== page.sheet.version) {
    Object.assign(view.drawn, { passagesOf: item.unit, passagesOn: page.sheet.version, termsDue: true });
    renderPassages(page.sheet, item.unit);
  }
  renderTerms(state, view, item, () => [
    { start: 0, from: null, text: page.title.textContent, root: page.title }, ...page.sheet.segments]);
}

/** Before the new texts are drawn, while the layout is still valid. */
function scrollBack(view) {
  for (const node of view.scrolled || []) node.scrollTop = 0;
  view.scrolled = new Set();
}

/** What all annotators marked in the text. */
function renderPassages(sheet, { opinions }) {
  paint("cd-passage", opinions.flatMap(({ passages }) => passages.flatMap(([start, end]) => (
    stretchesOf(sheet, start, end).map(({ segment, begin, end: stop }) => rangeOver(segment, begin, stop))))));
}

function heard({ unit }) {
  return `${titleOf(unit)}, for ${nameOfTopic(unit.topic)}: ${count(unit.opinions.length, "judgement")}`;
}

/** Marks the grade that the pair on screen has, or had before undo. */
function renderMarks(view, item) {
  const decision = item?.entry?.decision ?? item?.unit.before ?? null;
  const mark = !decision ? "" : decision.kind === "graded" ? String(decision.relevance) : "cannot judge";
  const drawn = `${mark}${item?.entry ? "" : " before"}`;
  if (view.drawn.mark === drawn) return;
  view.drawn.mark = drawn;
  for (const button of view.grades.children) setMark(button, button.dataset.grade === mark, item);
  setMark(view.cannotJudge, mark === "cannot judge", item);
}

// ---------------------------------------------------------------------------------------- opinions

function renderOpinions(state, view, { opinions }) {
  const { named = false } = state;
  if (view.drawn.opinions === opinions && view.drawn.named === named) return;
  Object.assign(view.drawn, { opinions, named });
  setHidden(view.nobody, opinions.length > 0);
  view.opinionList.replaceChildren(...opinions.map((opinion, i) => opinionRow(state, opinion, i, named)));
}

function opinionRow(state, opinion, i, named) {
  const row = make("li", { className: "cd-opinion" });
  const head = make("p", { className: "cd-opinion-head" });
  head.append(gradeBadge(state, opinion), make("b", { className: "cd-apart", textContent: forward(labelOf(state, opinion)) }));
  if (opinion.flagged) head.append(make("span", { className: "cd-badge cd-flag", textContent: "Flagged" }));
  row.append(head, whoLine(opinion, i, named));
  const said = [["p", opinion.reason], ["p", opinion.note], ...opinion.quotes.map((quote) => ["q", quote])];
  row.append(...said.filter(([, words]) => words).map(([tag, words]) => (
    make(tag, { className: "cd-apart", dir: "auto", textContent: forward(words) }))));
  if (said.some(([, words]) => words && (words.length > FOLDED || words.split("\n").length > FOLDED_LINES))) foldOpinion(row);
  return row;
}

/** The label of a grade, without its number. */
const labelOf = (state, { kind, relevance }) => (
  kind === "graded" ? state.scale.find(({ grade }) => grade === relevance)?.label ?? String(relevance) : "Cannot judge");

const FOLDED = 280; // characters of a note, and its lines, beyond which it is folded
const FOLDED_LINES = 6;

function foldOpinion(row) {
  row.classList.add("cd-folded");
  const button = make("button", { type: "button", className: "cd-small", textContent: "Show all" });
  button.dataset.do = "open-opinion";
  row.append(button);
}

onButton("open-opinion", (_, button) => {
  button.textContent = button.parentNode.classList.toggle("cd-folded") ? "Show all" : "Show less";
});

/** The annotator, by name or by letter, and the seconds on screen; with the name also the time. */
function whoLine({ annotator, seconds, judged_at }, i, named) {
  const line = make("p", { className: "cd-opinion-who" });
  const letter = `Annotator ${String.fromCharCode(65 + (i % 26))}${i < 26 ? "" : Math.floor(i / 26) + 1}`;
  line.append(make("bdi", { className: "cd-apart", textContent: named ? forward(cut(annotator, 100)) : letter }));
  if (seconds !== null) line.append(make("span", { textContent: `${seconds.toFixed(1)} s`, title: "Active time on the document" }));
  if (named) line.append(make("span", { textContent: judged_at.slice(0, 16).replace("T", " "), title: "Judged (UTC)" }));
  return line;
}

// --------------------------------------------------------------------------------------- attaching

function attachOwn(state, view, on) {
  view.page ??= newPage(view.document);
  view.pages = () => [view.page];
  const key = JSON.stringify(state.scale);
  if (view.drawn.scale !== key) {
    view.drawn.scale = key;
    fillGrades(state, view);
    for (const button of view.grades.children) button.title += ". Record this as the adjudicated grade.";
    Object.assign(view.drawn, { keys: undefined, mark: undefined, opinions: undefined });
  }
  for (const node of [view.scroller, view.opinionsPlace]) {
    on(node, "scroll", () => (view.scrolled ||= new Set()).add(node), { passive: true });
  }
}
