// How the annotator arranges the card: how texts are set, what is marked in them, and the keys. Part of one module: see state.js.

// ---------------------------------------------------------------------------------------- texts

/** What can be made smaller and larger, as properties of the frame that the style sheet of documents reads. */
const LOOKS = {
  size: { steps: [14, 16, 18, 20, 23], usual: 16, property: "--cd-text-size", unit: "px", words: (n) => `${n} px` },
  measure: { steps: [560, 680, 800, 960, 1200], usual: 800, property: "--cd-measure", unit: "px", words: (n) => `${n} px` },
  leading: { steps: [1.375, 1.625, 1.875, 2.125], usual: 1.625, property: "--cd-leading", unit: "", words: (n) => n.toFixed(1) },
};

const lookOf = (state, name) => (LOOKS[name].steps.includes(state.own[name]) ? state.own[name] : LOOKS[name].usual);

function applyLooks(state, view) {
  if (view.drawn.own === state.own) return;
  view.drawn.own = state.own;
  for (const [name, { property, unit }] of Object.entries(LOOKS)) {
    view.frame.style.setProperty(property, `${lookOf(state, name)}${unit}`);
  }
}

function stepLook(state, name, by) {
  const { steps } = LOOKS[name];
  const step = steps[steps.indexOf(lookOf(state, name)) + by];
  if (step !== undefined) changeOwn(state, { [name]: step });
}

/** Switches of the panel: whether they are on, and what turning them changes. */
const SWITCHES = {
  "mark-topic": { on: ({ own }) => own.marks?.topic !== false, turn: ({ own }, on) => ({ marks: { ...own.marks, topic: on } }) },
  "mark-own": { on: ({ own }) => own.marks?.own !== false, turn: ({ own }, on) => ({ marks: { ...own.marks, own: on } }) },
  long: { on: ({ own }) => own.long === "whole", turn: (_, on) => ({ long: on ? "whole" : "as set" }) },
};

function turn(state, name) {
  const { on, turn: changes } = SWITCHES[name];
  changeOwn(state, changes(state, !on(state)));
}

// ----------------------------------------------------------------------------------------- keys

/** The name of an action or of a grade. */
const labelFor = (state, name) => {
  const grade = gradeOf(state, name);
  if (grade) return `${grade.grade} ${grade.label}`;
  const label = ACTIONS.get(name)?.label ?? name;
  return name === "help" ? byInput(label, "Grades") : label; // without a keyboard the panel lists the grades alone
};

const gradeOf = (state, name) => (
  name.startsWith("digit:") ? state.scale.find(({ grade }) => `digit:${grade}` === name) ?? null : null);

/** Why a key is not to be had, as the end of a sentence; "" where it is. */
function keyRefusal(key) {
  if (key === "r" || key === "c") return "the app already uses it";
  if (/^[0-9]$/.test(key)) return "digits are reserved for answers";
  if (key in SCROLL) return "it scrolls the document";
  if (TAKEN_KEYS.has(key)) return "panels and text fields need it";
  if (key.length > 1 && !(key in CAPS)) return "the browser uses it";
  return "";
}

/** Gives an action or a grade a key; if another action has it, the two swap. Tells the outcome. */
function giveKey(state, name, key) {
  const refusal = keyRefusal(key);
  const cap = capOf(key);
  if (refusal) return sayOfKeys(state, `${cap} cannot be used: ${refusal}.`);
  const holder = state.keyMap.get(key);
  if (holder === name) return sayOfKeys(state, `\u201c${labelFor(state, name)}\u201d already has the key ${cap}.`);
  const keys = { ...state.own.keys };
  const former = capFor(state, name) ? keyOf(state, name) : "";
  if (holder !== undefined && !former) {
    return sayOfKeys(state, `${cap} belongs to \u201c${labelFor(state, holder)}\u201d. Give that another key first.`);
  }
  keys[name] = key;
  if (holder !== undefined) keys[holder] = former;
  changeOwn(state, { keys: unlikeUsual(keys) });
  const swapped = holder === undefined ? "" : ` \u201c${labelFor(state, holder)}\u201d now has ${capOf(former)}.`;
  return sayOfKeys(state, `\u201c${labelFor(state, name)}\u201d now has the key ${cap}.${swapped}`);
}

/** Only those keys that differ from the usual ones are kept. */
const unlikeUsual = (keys) => Object.fromEntries(Object.entries(keys).filter(([name, key]) => ACTIONS.get(name)?.key !== key));

function usualKey(state, name) {
  const usual = ACTIONS.get(name)?.key;
  if (usual !== undefined && !keyRefusal(usual)) return giveKey(state, name, usual);
  const { [name]: own, ...keys } = state.own.keys;
  changeOwn(state, { keys });
  return sayOfKeys(state, `\u201c${labelFor(state, name)}\u201d now has ${usual === undefined ? "only its digit" : `the key ${capOf(usual)}`}.`);
}

function usualKeys(state) {
  changeOwn(state, { keys: {} });
  sayOfKeys(state, "All keys are reset.");
}

function sayOfKeys(state, words) {
  state.rekey = null;
  setText(state.view, "keysSay", words);
  refresh(state);
}

/** A new key is waited for. */
function askKey(state, name) {
  if (state.rekey === name) return sayOfKeys(state, "");
  state.rekey = name;
  setText(state.view, "keysSay", `Press the new key for \u201c${labelFor(state, name)}\u201d, or Esc to keep the current one.`);
  return refresh(state);
}

/** While a new key is waited for, any other meaning of it waits as well. */
function reactionInRekey(state, event, { key }) {
  if (!state.rekey) return undefined;
  if (["Shift", "CapsLock", "AltGraph", "Unidentified", "Dead", "Process"].includes(event.key)) return null;
  if (event.key === "Tab") { // goes on, and leaves things as they are
    sayOfKeys(state, "");
    return null;
  }
  if (event.key === "Escape") return () => sayOfKeys(state, "");
  return () => giveKey(state, state.rekey, key);
}

// ------------------------------------------------------------------------------------- the panel

function renderSettings(state, view) {
  for (const name of Object.keys(LOOKS)) {
    const { steps, words } = LOOKS[name];
    const value = lookOf(state, name);
    setText(view, `${name}Is`, words(value));
    for (const [node, at] of [[view[`${name}Less`], 0], [view[`${name}More`], steps.length - 1]]) {
      // Not disabled: that would take the focus away from whoever presses it.
      node.setAttribute("aria-disabled", String(steps.indexOf(value) === at));
    }
  }
  for (const [name, { on }] of Object.entries(SWITCHES)) {
    view[`switch-${name}`.replace(/-(.)/g, (_, letter) => letter.toUpperCase())].setAttribute("aria-checked", String(on(state)));
  }
  renderKeyRows(state, view);
}

/** One row for each action and grade; made once, so that the focus stays where it is. */
function renderKeyRows(state, view) {
  const drawn = `${state.keysVersion} ${state.rekey}`;
  if (view.drawn.keyRows === drawn) return;
  view.drawn.keyRows = drawn;
  if (view.drawn.keyRowsOf !== state.scale) {
    view.drawn.keyRowsOf = state.scale;
    const names = [...state.scale.map(({ grade }) => `digit:${grade}`), ...ACTIONS.keys()];
    view.keyRows.replaceChildren(...names.map((name) => keyRow(state, name)));
  }
  for (const row of view.keyRows.children) {
    const [ask, usual] = row.children;
    const { name } = ask.dataset;
    const waits = state.rekey === name;
    const digit = gradeOf(state, name)?.grade;
    const cap = capFor(state, name);
    const caps = digit === undefined ? [cap] : [String(digit), cap];
    ask.firstChild.replaceChildren(...(waits ? ["press a key"] : caps.filter(Boolean).map(kbd)));
    if (!waits && !caps.some(Boolean)) ask.firstChild.textContent = "no key";
    ask.classList.toggle("cd-waits", waits);
    ask.setAttribute("aria-pressed", String(waits));
    setHidden(usual, !(name in state.own.keys));
  }
  setHidden(view.usualKeys, !Object.keys(state.own.keys).length);
}

function keyRow(state, name) {
  const row = make("li");
  const ask = make("button", { type: "button", className: "cd-key" });
  Object.assign(ask.dataset, { do: "rekey", name });
  const words = make("span", { className: "cd-apart", textContent: forward(labelFor(state, name)) });
  ask.append(make("span", { className: "cd-caps" }), words);
  const usual = make("button", { type: "button", className: "cd-small", title: "Reset to the default key" });
  usual.setAttribute("aria-label", `Reset to the default key: ${labelFor(state, name)}`);
  Object.assign(usual.dataset, { do: "usual-key", name });
  usual.append(make("span", { textContent: "Reset" }));
  row.append(ask, usual);
  return row;
}

action("settings", (state) => togglePanel(state, "settings"),
  { panel: "settings" });
panel("settings", {
  node: "settingsPanel", first: reactionInRekey, render: renderSettings,
  left: (state) => {
    state.rekey = null;
    setText(state.view, "keysSay", "");
  },
});
onButton("look", (state, button) => stepLook(state, button.dataset.name, Number(button.dataset.by)));
onButton("turn", (state, button) => turn(state, button.dataset.name));
onButton("rekey", (state, button) => askKey(state, button.dataset.name));
onButton("usual-key", (state, button) => usualKey(state, button.dataset.name));
onButton("usual-keys", (state) => usualKeys(state));
