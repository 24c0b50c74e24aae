// What the keys and buttons of this card do. Part of one module: see units.js.

const scrollerOf = (state) => state.view.documents;

/** A digit is a document. */
const digitMeans = (state, digit) => (_, source = "key") => choose(state, digit === 0 ? 9 : digit - 1, source);

const rowOf = (node) => Number(node.closest("[data-at]").dataset.at);

action("done", done);
action("none", none);
action("down", (state) => step(state, 1), { repeats: true });
action("up", (state) => step(state, -1), { repeats: true });
action("tick", (state, source) => {
  const at = onScreen(state)?.unit.at ?? -1;
  if (at < 0) tell(state, "Press a digit, or go to a document with \u2193 and press Space.");
  else choose(state, at, source);
});
action("open", (state) => (
  openText(state, onScreen(state)?.unit.at ?? 0)));
action("highlight", (state) => toggleTerms(state));
addSharedActions();

onButton("choose", (state, node) => choose(state, rowOf(node), "click"));
onButton("show-all", (state, node) => showAll(state, onScreen(state)?.unit.documents[rowOf(node)]));
onButton("open-row", (state, node) => openText(state, rowOf(node)));

panel("guidelines", { node: "guidelinesPanel", beside: true });
