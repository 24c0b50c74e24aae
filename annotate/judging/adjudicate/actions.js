// What the keys and buttons of this card do. Part of one module: see units.js.

const scrollerOf = (state) => state.view.scroller;

/** A digit is a grade. */
function digitMeans(state, digit) {
  const known = state.scale.some(({ grade }) => grade === digit);
  return known ? (_, source = "key") => judge(state, "graded", { relevance: digit, source }) : null;
}

addSharedActions({ back: "ArrowLeft", forward: "ArrowRight" });
action("names", "w", "show who said what, and when, or hide it", (state) => {
  state.named = !state.named;
  refresh(state);
});
action("highlight", "h", "highlight the topic's words, or not", (state) => toggleTerms(state));

onButton("grade", (state, node) => judge(state, "graded", { relevance: Number(node.dataset.grade), source: "click" }));
onButton("show-all", (state) => showAll(state, state.view.page.doc));

panel("guidelines", { node: "guidelinesPanel", beside: true });
