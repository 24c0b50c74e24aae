// What keys and clicks do: a table of actions, a table of panels, and the listeners' reactions. Part of every card.
//
// A card registers what it can do with `action` and `panel`, and says itself what a digit means (`digitMeans`), what a
// step back from nothing open is (`stepBack`) and which node scrolls (`scrollerOf`). The default keys and what each action
// does in words are in keys.json (`KEYS`). Keys are each annotator's own: `state.own.keys` has those that differ.

const SCROLL = { ArrowUp: -1, ArrowDown: 1, PageUp: -2, PageDown: 2, " ": 2, Home: -3, End: 3 };
const FOREIGN = "[role=dialog],[role=menu],[role=listbox],[role=combobox],[role=slider],[role=radiogroup],[role=grid],[data-testid=stPopoverBody]";

/**
 * What the card can do, in the order in which the list of keys names it.
 *
 * @typedef {{key: string, label: string, help: string, run: (state, source: "key"|"click") => *, panel: ?string, when: ?(state) => boolean,
 *            anywhere: boolean, repeats: boolean, refusal: string}} Action `label` names it in menus, `help` in the list of keys; `panel` is the one that it opens, and
 *            closes again; without `when` it can always be done, else the key says the `refusal`; `anywhere`: also while a panel covers the document; `repeats`:
 *            again and again while its key is held
 */
const ACTIONS = new Map(Object.entries(KEYS.actions));

function action(name, run, { panel = null, when = null, anywhere = false, repeats = false, refusal = "" } = {}) {
  ACTIONS.set(name, { ...KEYS.actions[name], run, panel, when, anywhere, repeats, refusal });
}

/** What only buttons do, by their `data-do`. */
const CLICKS = new Map();

function onButton(name, run) {
  CLICKS.set(name, run);
}

/**
 * The panels by name.
 *
 * @typedef {{node: string, focus: string, beside: boolean, field: ?string, inField: ?(state, event) => ?Function,
 *            keys: ?(state, event, {key, digit}) => (?Function|undefined), first: ?(same), render: ?(state, view) => void, left: ?(state) => void}} Panel
 *            `node` and `focus` are parts of the view; `beside`: the document stays in sight, and judging goes on; `inField`
 *            says what a key means in its text `field`, `keys` what one means elsewhere (null: nothing, undefined: what it
 *            always means), `first` before Escape and what can be done anywhere; `render` draws it while it is open, `left` comes after it is closed
 */
const PANELS = {};

function panel(name, { node, focus = node, beside = false, field = null, inField = null, keys = null, first = null, render = null, left = null }) {
  PANELS[name] = { node, focus, beside, field, inField, keys, first, render, left };
}

// ------------------------------------------------------------------------------------ keys of one's own

/** Keys that are not to be given to an action: digits are grades, and the page itself takes `r` and `c`. */
const TAKEN_KEYS = new Set(["r", "c", "Escape", "Enter", "Tab", "Shift", "Backspace", "Delete", ...Object.keys(SCROLL)]);

/** The key of an action for this annotator; "" for none. */
const keyOf = (state, name) => state.own.keys[name] ?? ACTIONS.get(name)?.key ?? "";

/** Which action each key means. One's own keys come first: an action whose usual key is another's now has none. */
function mapKeys(state) {
  state.keyMap = new Map();
  for (const [name, key] of Object.entries(state.own.keys)) {
    if (key && !TAKEN_KEYS.has(key) && (ACTIONS.has(name) || name.startsWith("digit:"))) state.keyMap.set(key, name);
  }
  for (const [name, { key }] of ACTIONS) {
    if (!(name in state.own.keys) && !state.keyMap.has(key)) state.keyMap.set(key, name);
  }
  state.keysVersion = (state.keysVersion ?? 0) + 1;
}

/** The key that an action really has, which another may have taken. */
function capFor(state, name) {
  const key = keyOf(state, name);
  return state.keyMap.get(key) === name ? capOf(key) : "";
}

/** Phones and tablets without a keyboard: no key is named there, here or in the style sheets. */
const NO_KEYBOARD = matchMedia("(hover: none) and (pointer: coarse)");

/** The key of an action for a sentence; "" where there is no keyboard. */
const keyHint = (state, name) => (NO_KEYBOARD.matches ? "" : capFor(state, name));

/** How what was just done is undone, as the end of a sentence. */
function undoHint(state) {
  const key = keyHint(state, "undo");
  return key && ` – ${key} to undo`;
}

/** What to do with a list, by keyboard or by touch. */
const byInput = (keyed, touched) => (NO_KEYBOARD.matches ? touched : keyed);

// ---------------------------------------------------------------------------------------- reactions

/** A digit by its sign or, on layouts that need Shift for it, by its place on the keyboard. */
function digitOf(event) {
  if (/^[0-9]$/.test(event.key)) return Number(event.key);
  const place = event.shiftKey ? null : /^Digit([0-9])$/.exec(event.code ?? "");
  return place ? Number(place[1]) : null;
}

/** A letter by its sign or, on a keyboard that is not Latin, by its place. */
function letterOf(event) {
  if (event.key.length !== 1) return event.key;
  const place = event.key > "\u007f" ? /^Key([A-Z])$/.exec(event.code ?? "") : null;
  return (place ? place[1] : event.key).toLowerCase();
}

function isField(node) {
  return node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName);
}

function onKey(state, event) {
  const { view } = state;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !view.card.offsetHeight) return;
  moved(state);
  const path = event.composedPath().filter((node) => node.nodeType === Node.ELEMENT_NODE);
  const inside = path.includes(view.card);
  const pressed = ["BUTTON", "A", "SUMMARY"].includes(path[0]?.tagName);
  const presses = event.key === "Enter" || (event.key === " " && path[0]?.tagName !== "A"); // a link is not pressed by Space
  if (pressed && presses) {
    if (inside && event.repeat) event.preventDefault(); // a held Enter would press the button again and again
    return;
  }
  let react;
  if (path.some(isField)) {
    if (inside) event.stopPropagation(); // seen from outside it is no field: the page's own keys would act on it
    const open = PANELS[state.panel];
    if (open?.field && view[open.field] === path[0]) react = open.inField?.(state, event);
    else if (inside && leavesField(event, path[0])) react = () => leaveField(state, path[0]);
  }
  else if (!inside && path.some((node) => node.matches(FOREIGN))) react = null;
  else if (event.key in SCROLL && path.some((node) => scrollsItself(state, node))) react = null;
  else react = reactionTo(state, event);
  if (!react) return;
  event.preventDefault();
  event.stopPropagation();
  const known = ACTIONS.get(state.keyMap.get(event.key));
  const again = known ? known.repeats : event.key in SCROLL && (!state.panel || PANELS[state.panel].beside || LISTS.has(state.panel));
  if (!event.repeat || again) react();
}

const leavesField = (event, field) => event.key === "Escape" || (event.key === "Enter" && field.dataset.enter === "leaves");

/** Panels in which held arrows go on through a list. */
const LISTS = new Set(["search", "history", "more"]);

/** Out of a field of the card: the keys act again; in a panel the panel is left as well. */
function leaveField(state, field) {
  if (state.panel && state.view[PANELS[state.panel].node].contains(field)) setPanel(state, null);
  else letGo(state.view);
}

/** A panel beside the document that is longer than its place scrolls by itself while it has the focus. */
function scrollsItself(state, node) {
  const open = PANELS[state.panel];
  if (node.dataset?.scrolls !== undefined) return true;
  return open?.beside && node === state.view[open.node] && node.scrollHeight > node.clientHeight;
}

/** What a key does now, or null if it is none of the card's. */
function reactionTo(state, event) {
  const digit = digitOf(event);
  const key = digit === null ? letterOf(event) : String(digit);
  const nothing = () => {};
  const before = PANELS[state.panel]?.first?.(state, event, { key, digit });
  if (before !== undefined) return before;
  if (key === "Escape") return state.panel ? () => setPanel(state, null) : stepBack(state);
  if (event.shiftKey && (key === "ArrowLeft" || key === "ArrowRight")) return sideways(state.view, key === "ArrowLeft" ? -1 : 1);
  const name = state.keyMap.get(key) ?? null;
  const known = name && (ACTIONS.get(name) ?? (name.startsWith("digit:") && digitAction(state, name)));
  if (known?.anywhere) return () => known.run(state, "key");
  const open = PANELS[state.panel];
  const own = open?.keys?.(state, event, { key, digit });
  if (own !== undefined) return own;
  if (open && known?.panel === state.panel) return () => known.run(state, "key");
  // A panel covers the document: nothing is judged or moved behind it. Some stand beside it.
  if (open && !open.beside) return known || digit !== null || key in SCROLL ? nothing : null;
  if (known?.when && !known.when(state)) return known.refusal ? () => tell(state, known.refusal) : null;
  if (known) return () => known.run(state, "key");
  if (digit !== null) return digitMeans(state, digit);
  if (key in SCROLL) return () => scroll(scrollerOf(state), SCROLL[key] * (key === " " && event.shiftKey ? -1 : 1));
  return null;
}

/** Another key for what a digit does: `digit:2`. */
function digitAction(state, name) {
  const digit = Number(name.slice("digit:".length));
  const run = digitMeans(state, digit);
  return run && { run, panel: null, when: null, anywhere: false };
}

/** By two lines, or by a screen of which two lines stay. */
function scroll(scroller, step) {
  const style = getComputedStyle(scroller.node ?? scroller); // a card may move several by one
  const lines = 2 * (parseFloat(style.getPropertyValue("--cd-text-size")) || 16) * (parseFloat(style.getPropertyValue("--cd-leading")) || 1.625);
  const by = { 1: lines, 2: scroller.clientHeight - lines, 3: scroller.scrollHeight }[Math.abs(step)];
  scroller.scrollBy(0, Math.sign(step) * by);
}

/** A click on anything with `data-do`: an action, or what only buttons do. */
function onClick(state, event) {
  moved(state);
  const button = event.target.closest("[data-do]");
  if (!button || button.disabled || button.getAttribute("aria-disabled") === "true") return;
  const name = button.dataset.do;
  if (!mayClick(state, name)) {
    if (event.detail > 0 && state.panel) focusPanel(state); // else Enter would press the refused button once more
    return;
  }
  const known = ACTIONS.get(name);
  if (known) {
    if (!known.when || known.when(state)) known.run(state, "click");
  } else {
    CLICKS.get(name)?.(state, button, event);
  }
  // After a click with the mouse the space bar must scroll, not press the same button once more.
  if (event.detail > 0) state.cameFrom = null;
  if (event.detail > 0 && !state.panel) letGo(state.view);
}

const letGo = (view) => view.card.getRootNode().activeElement?.blur();

/** What has the focus within the card, to have it again when a panel is closed. */
function focusIn({ card }) {
  const node = card.getRootNode().activeElement;
  return node && node !== card && card.contains(node) && !node.closest("[role=dialog]") ? node : null;
}

/** After a panel the focus is where it was before, else at the card's start: never lost. */
function giveBack(state) {
  const { card } = state.view;
  const node = state.cameFrom;
  state.cameFrom = null;
  letGo(state.view);
  if (node?.isConnected && node.offsetParent !== null) node.focus({ preventScroll: true });
  else card.focus({ preventScroll: true });
}

function focusPanel({ view, panel: name }) {
  const { node, focus } = PANELS[name];
  view[view[focus].hidden ? node : focus].focus({ preventScroll: true });
}

function setPanel(state, name) {
  const former = PANELS[state.panel];
  if (name && !former && state.view) state.cameFrom = focusIn(state.view);
  state.panel = name;
  if (former && former !== PANELS[name]) former.left?.(state);
  refresh(state);
  const { view } = state;
  if (!view) return undefined;
  if (!name) return giveBack(state);
  return focusPanel(state);
}

/** Opens a panel, or closes it where it is open. */
const togglePanel = (state, name) => setPanel(state, state.panel === name ? null : name);

function renderPanels(state, view) {
  for (const [name, { node, render }] of Object.entries(PANELS)) {
    setHidden(view[node], state.panel !== name);
    if (state.panel === name) render?.(state, view);
  }
}

/** Prints each action's key on its buttons, and lists all keys. */
function renderKeys(state, view) {
  if (view.drawn.keys === state.keysVersion) return;
  view.drawn.keys = state.keysVersion;
  for (const cap of view.card.querySelectorAll("kbd[data-key]")) {
    cap.textContent = capFor(state, cap.dataset.key);
    cap.hidden = cap.textContent === "";
  }
  view.actionKeys.replaceChildren(...[...ACTIONS].flatMap(([name, { help }]) => {
    const cap = capFor(state, name);
    return keyLine(cap ? [kbd(cap)] : ["no key"], help);
  }));
  const fixed = KEYS.fixed.filter(({ scale }) => !scale); // grades are listed one by one
  view.fixedKeys.replaceChildren(...fixed.flatMap(({ keys, help }) => (
    keyLine(keys.flatMap((key) => [key === "\u2026" ? key : kbd(key), " "]), help))));
}

function keyLine(caps, help) {
  const key = make("dt");
  key.append(...caps);
  return [key, make("dd", { textContent: help })];
}
