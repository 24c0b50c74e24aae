// The menu of all that has no button of its own on the card. Part of one module: see state.js.

function openMore(state) {
  if (state.panel === "more") return setPanel(state, null);
  fillMore(state, state.view);
  setPanel(state, "more");
  return state.view.moreList.querySelector("button")?.focus({ preventScroll: true });
}

/** Which these are, says the width that is there. */
function fillMore(state, view) {
  const shown = new Set([...view.card.querySelectorAll("button[data-do]")].filter((button) => button.offsetParent !== null)
    .map((button) => button.dataset.do));
  const names = [...ACTIONS].filter(([name, { when }]) => !shown.has(name) && (!when || when(state))).map(([name]) => name);
  view.moreList.replaceChildren(...names.map((name) => {
    const row = make("li");
    const button = make("button", { type: "button" });
    Object.assign(button.dataset, { do: "from-more", name });
    const cap = capFor(state, name);
    button.append(make("kbd", { textContent: cap, hidden: !cap }), make("span", { textContent: labelFor(state, name) }));
    row.append(button);
    return row;
  }));
}

function fromMore(state, name, source) {
  setPanel(state, null);
  const { when, run } = ACTIONS.get(name);
  if (!when || when(state)) run(state, source);
}

/** Arrows go through the menu; a key does what it always does, and the menu is closed. */
function reactionInMore(state, event, { key }) {
  const buttons = [...state.view.moreList.querySelectorAll("button")];
  const at = buttons.indexOf(state.view.card.getRootNode().activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (to !== undefined) return () => buttons[(to + buttons.length) % buttons.length]?.focus();
  const name = state.keyMap.get(key);
  if (!name || name === "more" || !buttons.some((button) => button.dataset.name === name)) return undefined;
  return () => fromMore(state, name, "key");
}

action("more", (state) => openMore(state), { panel: "more" });
panel("more", { node: "morePanel", keys: reactionInMore });
onButton("from-more", (state, button) => fromMore(state, button.dataset.name, "click"));
