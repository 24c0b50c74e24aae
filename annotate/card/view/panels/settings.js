// The annotator's settings of the card (text, highlights, keys), and the list of keys.

/** @import { CardData, Own, Part, Pressed, Reaction, View } from "../types.js" */

import { marksTopic } from "../document/highlights.js";
import { labelOf, SCROLL, TAKEN } from "../frame/keys.js";
import { apart, make, setHidden, smallButton } from "../frame/nodes.js";
import { keyNumbers } from "../units/question_words.js";

/** @typedef {"size" | "measure" | "leading"} Look */

/**
 * Settings of size, as properties of the frame that the style sheet of documents reads.
 *
 * @type {[name: Look, steps: number[], usual: number, property: string, unit: string][]}
 */
const LOOKS = [
  ["size", [14, 16, 18, 20, 23], 16, "--cd-text-size", "px"],
  ["measure", [560, 680, 800, 960, 1200], 800, "--cd-measure", "px"],
  ["leading", [1.375, 1.625, 1.875, 2.125], 1.625, "--cd-leading", ""],
];

/** Switches by their nodes: whether it is on, and what turning it changes. @type {Record<string, [(own: Own, data: CardData) => boolean, (own: Own, on: boolean) => Partial<Own>]>} */
const SWITCHES = {
  switchMarkTopic: [marksTopic, ({ marks }, topic) => ({ marks: { ...marks, topic } })],
  switchMarkOwn: [({ marks }) => marks?.own !== false, ({ marks }, own) => ({ marks: { ...marks, own } })],
  switchLong: [({ long }) => long === "whole", (_, on) => ({ long: on ? "whole" : "as set" })],
};

/** The switch of the terms of a review, which only a review has. @type {typeof SWITCHES[string]} */
const REVIEW_SWITCH = [
  ({ marks }) => marks?.review !== false,
  ({ marks }, review) => ({ marks: { ...marks, review } }),
];

/** Keys that only change others. */
const MODIFIERS = ["Shift", "CapsLock", "AltGraph", "Unidentified", "Dead", "Process"];

/** The reason why an action cannot have a key, as the end of a sentence; "" if it can. @param {string} key @param {Record<string, string>} caps */
function refusalOf(key, caps) {
  if (key === "r" || key === "c") return "the app already uses it";
  if (/^[0-9]$/.test(key)) return "digits are reserved for answers";
  if (key in SCROLL) return "it scrolls the document";
  if (TAKEN.has(key)) return "panels and text fields need it";
  return key.length > 1 && !(key in caps) ? "the browser uses it" : "";
}

/** @param {View} view @returns {Part} */
export function settings(view) {
  const { arrangement } = view.card;
  const { caps, keys: known } = view.data;
  const switches = view.data.review_terms ? { ...SWITCHES, switchMarkReview: REVIEW_SWITCH } : SWITCHES;
  /** The action or grade for which a new key is waited for. @type {string | null} */
  let waiting = null;
  /** @type {Own | null} */
  let drawn = null;
  /** @type {ReturnType<typeof keyRow>[]} */
  let rows = [];

  /** @param {string} name */
  const quoted = (name) => `“${labelOf(view, name)}”`;

  /** The value of a look among its steps. @param {Look} name @param {number[]} steps @param {number} usual */
  const stepOf = (name, steps, usual) => steps.find((each) => each === view.own[name]) ?? usual;

  /** @param {string} words @param {string | null} name of what waits for a new key from now on */
  function say(words, name = null) {
    waiting = name;
    view.setText("keysSay", words);
    view.render();
  }

  /** Gives an action or a grade a key; if another action has it, the two swap. @param {string} name @param {string} key */
  function giveKey(name, key) {
    const { keys, own } = view;
    const cap = keys.print(key);
    const holder = keys.names.get(key);
    if (holder === name) return say(`${quoted(name)} already has the key ${cap}.`);
    const former = keys.cap(name) ? keys.keyOf(name) : "";
    if (holder !== undefined && !former)
      return say(`${cap} belongs to ${quoted(holder)}. Give that another key first.`);
    const next = { ...own.keys, [name]: key, ...(holder !== undefined && { [holder]: former }) };
    // Only those keys that differ from the usual ones are kept.
    const others = Object.entries(next).filter(([each, at]) => known.actions[each]?.key !== at);
    arrangement.change({ keys: Object.fromEntries(others) });
    const swapped = holder === undefined ? "" : ` ${quoted(holder)} now has ${keys.print(former)}.`;
    return say(`${quoted(name)} now has the key ${cap}.${swapped}`);
  }

  /** @param {string} name */
  function usualKey(name) {
    const usual = known.actions[name]?.key;
    if (usual !== undefined) return giveKey(name, usual);
    const { [name]: _, ...keys } = view.own.keys;
    arrangement.change({ keys });
    return say(`${quoted(name)} now has only its digit.`);
  }

  /** @param {string} name */
  function askKey(name) {
    if (waiting === name) return say("");
    return say(`Press the new key for ${quoted(name)}, or Esc to keep the current one.`, name);
  }

  /** While a new key is waited for, any other meaning of it waits as well. @param {KeyboardEvent} event @param {Pressed} pressed @returns {Reaction | undefined} */
  function takeKey(event, { key }) {
    const name = waiting;
    if (!name) return undefined;
    if (MODIFIERS.includes(event.key)) return null;
    if (event.key === "Escape") return () => say("");
    const refusal = refusalOf(key, caps);
    const refuse = () => say(`${view.keys.print(key)} cannot be used: ${refusal}.`);
    if (event.key !== "Tab") return refusal ? refuse : () => giveKey(name, key);
    say(""); // goes on, and leaves things as they are
    return null;
  }

  function drawPanel() {
    for (const [name, steps, usual, , unit] of LOOKS) {
      const value = stepOf(name, steps, usual);
      view.setText(`${name}Is`, unit ? `${value} ${unit}` : value.toFixed(1));
      // Not disabled: that would take the focus away from whoever presses it.
      view.node(`${name}Less`).ariaDisabled = String(value === steps[0]);
      view.node(`${name}More`).ariaDisabled = String(value === steps.at(-1));
    }
    for (const [name, [isOn]] of Object.entries(switches))
      view.node(name).ariaChecked = String(isOn(view.own, view.data));
    drawKeys();
  }

  /** One row for each action and grade; made once, so that the focus stays where it is. */
  function drawKeys() {
    const { keys, own, data, actions } = view;
    if (!rows.length) {
      rows = [...keyNumbers(data).map((number) => `digit:${number}`), ...actions.keys()].map((name) =>
        keyRow(view, name),
      );
      view.node("keyRows").replaceChildren(...rows.map(({ row }) => row));
    }
    for (const { name, ask, shown, reset } of rows) {
      const waits = waiting === name;
      const all = [/^digit:(.*)$/.exec(name)?.[1] ?? "", keys.cap(name)]
        .filter(Boolean)
        .map((cap) => make("kbd", {}, cap));
      shown.replaceChildren(...(waits ? ["press a key"] : all.length ? all : ["no key"]));
      ask.classList.toggle("cd-waits", waits);
      ask.ariaPressed = String(waits);
      setHidden(reset, !(name in own.keys));
    }
    view.setHidden("usualKeys", !Object.keys(own.keys).length);
  }

  return {
    clicks: {
      look({ dataset }) {
        for (const [name, steps, usual] of LOOKS.filter(([each]) => each === dataset.name)) {
          const step = steps[steps.indexOf(stepOf(name, steps, usual)) + Number(dataset.by)];
          if (step !== undefined) arrangement.change({ [name]: step });
        }
      },
      turn(button) {
        for (const [name, [isOn, turn]] of Object.entries(switches))
          if (view.node(name) === button) arrangement.change(turn(view.own, !isOn(view.own, view.data)));
      },
      rekey: ({ dataset: { name = "" } }) => askKey(name),
      "usual-key": ({ dataset: { name = "" } }) => usualKey(name),
      "usual-keys"() {
        arrangement.change({ keys: {} });
        say("All keys are reset.");
      },
    },
    panels: { settings: { keys: takeKey, render: drawPanel, left: () => say("") } },
    attach: () => void drawReviewTerms(view),
    render() {
      if (drawn === view.own) return;
      drawn = view.own;
      for (const [name, steps, usual, property, unit] of LOOKS)
        view.node("frame").style.setProperty(property, `${stepOf(name, steps, usual)}${unit}`);
    },
  };
}

/** Draws the switch of the terms of a review, and the terms as they are highlighted; without a review there is none. @param {View} view */
function drawReviewTerms(view) {
  const terms = view.data.review_terms;
  const legend = view.node("switchMarkOwn").parentElement?.querySelector(".cd-legend");
  legend?.remove();
  if (!terms) return;
  if (!view.nodes.switchMarkReview) {
    const node = make(
      "button",
      {
        type: "button",
        className: "cd-switch",
        dataset: { part: "switch-mark-review", do: "turn", name: "mark-review" },
      },
      make("span", {}, "Highlight inclusion and exclusion terms"),
      make("i", {}),
    );
    Object.assign(node, { role: "switch", ariaChecked: "true" });
    view.node("switchMarkOwn").after(node);
    view.nodes.switchMarkReview = node;
  }
  const none = "none: they are set on the page Set up";
  const lines = /** @type {const} */ ([
    ["include", "Inclusion terms"],
    ["exclude", "Exclusion terms"],
  ]).flatMap(([kind, words]) => [
    make("dt", {}, make("span", { className: `cd-${kind}-sample` }, words)),
    apart("dd", terms[kind].join(", ") || none),
  ]);
  view.node("switchMarkReview").after(make("dl", { className: "cd-legend" }, ...lines));
}

/** An action or a grade with its keys, of which the click asks for another one. @param {View} view @param {string} name */
function keyRow(view, name) {
  const label = labelOf(view, name);
  const shown = make("span", { className: "cd-caps" });
  const dataset = { do: "rekey", name };
  const ask = make("button", { type: "button", className: "cd-key", dataset }, shown, apart("span", label));
  const reset = smallButton("Reset", "usual-key", { name });
  Object.assign(reset, { title: "Reset to the default key", ariaLabel: `Reset to the default key: ${label}` });
  return { name, ask, shown, reset, row: make("li", {}, ask, reset) };
}

/** The list of keys, and closing of panels. @param {View} view @returns {Part} */
export const help = (view) => ({
  panels: { help: { anywhere: true } },
  clicks: { close: () => view.setPanel(null) },
});
