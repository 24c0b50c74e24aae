// What the keys and buttons of this card do. Part of one module: see units.js.

const scrollerOf = (state) => state.view.documents;

/** A digit is a document. */
const digitMeans = (state, digit) => (_, source = "key") => choose(state, digit === 0 ? 9 : digit - 1, source);

const rowOf = (node) => Number(node.closest("[data-at]").dataset.at);

action("done", "Enter", "done with this list: those with a tick are chosen", done);
action("none", "n", "none of these answers it", none);
action("down", "ArrowDown", "the next document", (state) => step(state, 1), { repeats: true });
action("up", "ArrowUp", "the document before", (state) => step(state, -1), { repeats: true });
action("tick", " ", "choose the document that \u2193 and \u2191 have come to, or take that back", (state, source) => {
  const at = onScreen(state)?.unit.at ?? -1;
  if (at < 0) tell(state, "Digits choose; or \u2193 goes to a document, and Space chooses it.");
  else choose(state, at, source);
});
action("open", "e", "show the text of that document whole, and close it again", (state) => (
  openText(state, onScreen(state)?.unit.at ?? 0)));
action("highlight", "h", "highlight the topic's words, or not", (state) => toggleTerms(state));
addSharedActions({ back: "ArrowLeft", forward: "ArrowRight" });

onButton("choose", (state, node) => choose(state, rowOf(node), "click"));
onButton("show-all", (state, node) => showAll(state, onScreen(state)?.unit.documents[rowOf(node)]));
onButton("open-row", (state, node) => openText(state, rowOf(node)));

panel("guidelines", { node: "guidelinesPanel", beside: true });
