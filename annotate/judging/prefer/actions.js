// What the keys and buttons of this card do. Part of one module: see units.js.

/** Scrolls both documents by the same share of their hidden part. */
function scrollerOf(state) {
  const places = state.view.sides.map(({ place }) => place);
  const range = (place) => place.scrollHeight - place.clientHeight;
  const longest = range(places[0]) >= range(places[1]) ? places[0] : places[1];
  return {
    node: longest,
    clientHeight: longest.clientHeight,
    scrollHeight: longest.scrollHeight,
    scrollBy: (_, by) => {
      const share = by / Math.max(1, range(longest));
      for (const place of places) place.scrollTop += share * range(place);
    },
  };
}

const answer = (kind) => (state, source) => judge(state, kind, { source });

const DIGITS = { 1: "left", 2: "right", 0: "equal" };

/** 1 is the left one, 2 the right one, 0 neither. */
function digitMeans(state, digit) {
  const kind = DIGITS[digit];
  return kind ? (_, source = "key") => answer(kind)(state, source) : null;
}

action("left", answer("left"));
action("equal", answer("equal"));
action("right", answer("right"));
addSharedActions();
action("highlight", (state) => toggleTerms(state));

action("room", (state) => (
  giveRoom(state, { "": "left", left: "right", right: "" }[state.view.larger ?? ""])));

/** Where the documents are stacked, one can get most of the room until the next pair. */
function giveRoom(state, side) {
  const { view } = state;
  view.larger = side;
  SIDES.forEach((name, i) => view.sides[i].place.classList.toggle("cd-larger", name === side));
}

onButton("room", (state, node) => giveRoom(state, state.view.larger === node.dataset.side ? "" : node.dataset.side));
onButton("show-all", (state, node) => showAll(state, state.view.sides.find(({ place }) => place.contains(node))?.page.doc));

panel("guidelines", { node: "guidelinesPanel", beside: false });
