// Drawing the two documents, and what each is called. Part of one module: see units.js.

const SIDES = ["left", "right"];

function renderItem(state, view, item, turned) {
  if (turned && view.scrolled) { // before the new texts, while the layout is still valid
    for (const { place } of view.sides) place.scrollTop = 0;
    view.scrolled = false;
  }
  if (turned && view.larger) giveRoom(state, "");
  SIDES.forEach((side, i) => {
    const { place, page } = view.sides[i];
    setHidden(place, item === null);
    if (item) drawPage(page, documentOf(item.unit, item.about[side]));
  });
  renderAnswers(view, item);
  renderPairs(state, view, item);
  if (turned || view.drawn.texts !== textsOf(view)) view.drawn.termsDue = true;
  view.drawn.texts = textsOf(view);
  renderTerms(state, view, item, () => view.sides.flatMap(({ page }) => (
    [{ start: 0, from: null, text: page.title.textContent, root: page.title }, ...page.sheet.segments])));
}

function heard({ unit, about }) {
  return `${nameOfTopic(unit.topic)}: ${nameOf(documentOf(unit, about.left))}, or ${nameOf(documentOf(unit, about.right))}`;
}

const textsOf = (view) => view.sides.reduce((sum, { page }) => sum + page.sheet.version, 0);

/** Marks the answer that the pair on screen has, or had before undo. */
function renderAnswers(view, item) {
  const before = item && !item.entry && item.unit.before && subjectOf(item.unit.before) === item.key ? item.unit.before : null;
  const decision = item?.entry?.decision ?? before;
  const kind = decision && item.about.left !== decision.left ? OTHER_WAY[decision.kind] ?? decision.kind : decision?.kind;
  const mark = decision ? `${kind}${before ? " before" : ""}` : "";
  if (view.drawn.mark === mark) return;
  view.drawn.mark = mark;
  for (const [node, name] of [[view.left, "left"], [view.equal, "equal"], [view.right, "right"], [view.cannotJudge, "cannot judge"]]) {
    node.setAttribute("aria-pressed", String(name === kind && before === null));
    node.classList.toggle("cd-former", name === kind && before !== null);
  }
}

/** How far the topic is: how many pairs there can be at most is known, and falls. */
function renderPairs(state, view, item) {
  const unit = item?.unit ?? openUnit(state);
  const { done = 0, expected = 0 } = unit ?? {};
  const words = !unit ? "\u2013" : done >= expected ? figure(done) : `${figure(done)} of up to ${figure(expected)}`;
  if (view.drawn.topicCount === words) return;
  setText(view, "topicCount", words);
  view.topicBar.style.transform = `scaleX(${expected ? Math.min(1, done / expected) : 0})`;
}

function attachOwn(state, view, on) {
  view.sides ??= SIDES.map((side) => {
    const place = view.card.querySelector(`[data-side=${side}]`);
    return { place, page: newPage(place.querySelector("article")) };
  });
  for (const name of ["--cd-grades", "--cd-grades-narrow"]) view.answers.style.setProperty(name, "3");
  view.pages = () => view.sides.map(({ page }) => page);
  for (const { place } of view.sides) {
    on(place, "scroll", () => { view.scrolled = true; }, { passive: true });
    // Whoever has come to it with Tab moves that one alone.
    on(place, "focusin", () => place.toggleAttribute("data-scrolls", place.matches(":focus-visible")));
    on(place, "focusout", () => place.removeAttribute("data-scrolls"));
  }
}
