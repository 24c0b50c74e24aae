// What the keys and buttons of this card do. Part of one module: see units.js.

const scrollerOf = (state) => state.view.scroller;

/** A digit is a grade. */
function digitMeans(state, digit) {
  const known = state.scale.some(({ grade }) => grade === digit);
  return known ? (_, source = "key") => judge(state, "graded", { relevance: digit, source }) : null;
}

addSharedActions();
action("names", (state) => {
  state.named = !state.named;
  refresh(state);
});
action("highlight", (state) => toggleTerms(state));

onButton("grade", (state, node) => judge(state, "graded", { relevance: Number(node.dataset.grade), source: "click" }));
onButton("show-all", (state) => showAll(state, state.view.page.doc));

panel("guidelines", { node: "guidelinesPanel", beside: true });
