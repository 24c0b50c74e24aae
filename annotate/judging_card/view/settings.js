// How the annotator arranges the card: how texts are set, what is highlighted in them, and the keys. And the list of keys.

/** @import { Own } from "../shell/arrangement.js" */
/** @import { Part, Pressed, Reaction } from "./types.js" */
/** @import { View } from "./view.js" */

import { byInput, SCROLL, TAKEN } from "./keys.js";
import { apart, make, setHidden, smallButton } from "./nodes.js";

/** @typedef {"size" | "measure" | "leading"} Look */

/**
 * What can be made smaller and larger, as properties of the frame that the style sheet of documents reads.
 *
 * @type {Record<Look, { steps: number[], usual: number, property: string, unit: string }>}
 */
const LOOKS = {
  size: { steps: [14, 16, 18, 20, 23], usual: 16, property: "--cd-text-size", unit: "px" },
  measure: { steps: [560, 680, 800, 960, 1200], usual: 800, property: "--cd-measure", unit: "px" },
  leading: { steps: [1.375, 1.625, 1.875, 2.125], usual: 1.625, property: "--cd-leading", unit: "" },
};

const LOOK_NAMES = /** @type {Look[]} */ (Object.keys(LOOKS));

/**
 * Switches of the panel: the node, whether it is on, and what turning it changes.
 *
 * @type {Record<string, { node: string, on: (own: Own) => boolean, turn: (own: Own, on: boolean) => Partial<Own> }>}
 */
const SWITCHES = {
  "mark-topic": {
    node: "switchMarkTopic",
    on: ({ marks }) => marks?.topic !== false,
    turn: ({ marks }, topic) => ({ marks: { ...marks, topic } }),
  },
  "mark-own": {
    node: "switchMarkOwn",
    on: ({ marks }) => marks?.own !== false,
    turn: ({ marks }, own) => ({ marks: { ...marks, own } }),
  },
  long: {
    node: "switchLong",
    on: ({ long }) => long === "whole",
    turn: (_, on) => ({ long: on ? "whole" : "as set" }),
  },
};

/** Keys that only change others. */
const MODIFIERS = ["Shift", "CapsLock", "AltGraph", "Unidentified", "Dead", "Process"];

/** @implements {Part} */
export class Settings {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** The action or grade for which a new key is waited for. @type {string | null} */
    this.waiting = null;
    /** @type {Own | null} */
    this.drawn = null;
    this.drawnRows = "";
    this.actions = { settings: { run: () => view.togglePanel("settings"), panel: "settings" } };
    this.panels = {
      settings: {
        node: "settingsPanel",
        first: (/** @type {KeyboardEvent} */ event, /** @type {Pressed} */ pressed) => this.takeKey(event, pressed),
        render: () => this.renderPanel(),
        left: () => this.say(""),
      },
    };
    /** @type {Part["clicks"]} */
    this.clicks = {
      look: ({ dataset: { name, by } }) => this.stepLook(/** @type {Look} */ (name), Number(by)),
      turn: ({ dataset: { name = "" } }) => this.turn(name),
      rekey: ({ dataset: { name = "" } }) => this.askKey(name),
      "usual-key": ({ dataset: { name = "" } }) => this.usualKey(name),
      "usual-keys": () => {
        this.change({ keys: {} });
        this.say("All keys are reset.");
      },
    };
  }

  /** @param {Partial<Own>} changes */
  change(changes) {
    this.view.card.arrangement.change(changes);
  }

  // -------------------------------------------------------------------------------------------------- texts

  /** @param {Look} name */
  look(name) {
    const value = this.view.own[name];
    return value !== undefined && LOOKS[name].steps.includes(value) ? value : LOOKS[name].usual;
  }

  /** @param {Look} name @param {number} by */
  stepLook(name, by) {
    const { steps } = LOOKS[name];
    const step = steps[steps.indexOf(this.look(name)) + by];
    if (step !== undefined) this.change({ [name]: step });
  }

  /** @param {string} name */
  turn(name) {
    const { own } = this.view;
    const known = SWITCHES[name];
    if (known) this.change(known.turn(own, !known.on(own)));
  }

  render() {
    const { own, nodes } = this.view;
    if (this.drawn === own) return;
    this.drawn = own;
    for (const name of LOOK_NAMES) {
      nodes.frame?.style.setProperty(LOOKS[name].property, `${this.look(name)}${LOOKS[name].unit}`);
    }
  }

  // --------------------------------------------------------------------------------------------------- keys

  /** @param {string} name */
  gradeOf(name) {
    return this.view.data.scale.find(({ grade }) => `digit:${grade}` === name) ?? null;
  }

  /** The name of an action or of a grade. @param {string} name */
  label(name) {
    return labelOf(this.view, name);
  }

  /** Why a key is not to be had, as the end of a sentence; "" where it is. @param {string} key */
  refusal(key) {
    if (key === "r" || key === "c") return "the app already uses it";
    if (/^[0-9]$/.test(key)) return "digits are reserved for answers";
    if (key in SCROLL) return "it scrolls the document";
    if (TAKEN.has(key)) return "panels and text fields need it";
    return key.length > 1 && !(key in this.view.data.caps) ? "the browser uses it" : "";
  }

  /** Gives an action or a grade a key; if another action has it, the two swap. @param {string} name @param {string} key */
  giveKey(name, key) {
    const { keys, own } = this.view;
    const refusal = this.refusal(key);
    const cap = keys.print(key);
    if (refusal) return this.say(`${cap} cannot be used: ${refusal}.`);
    const holder = keys.names.get(key);
    if (holder === name) return this.say(`“${this.label(name)}” already has the key ${cap}.`);
    const former = keys.cap(name) ? keys.keyOf(name) : "";
    if (holder !== undefined && !former) {
      return this.say(`${cap} belongs to “${this.label(holder)}”. Give that another key first.`);
    }
    const next = { ...own.keys, [name]: key, ...(holder !== undefined && { [holder]: former }) };
    const usual = this.view.data.keys.actions;
    // Only those keys that differ from the usual ones are kept.
    this.change({ keys: Object.fromEntries(Object.entries(next).filter(([each, at]) => usual[each]?.key !== at)) });
    const swapped = holder === undefined ? "" : ` “${this.label(holder)}” now has ${keys.print(former)}.`;
    return this.say(`“${this.label(name)}” now has the key ${cap}.${swapped}`);
  }

  /** @param {string} name */
  usualKey(name) {
    const usual = this.view.data.keys.actions[name]?.key;
    if (usual !== undefined && !this.refusal(usual)) return this.giveKey(name, usual);
    const { [name]: _, ...keys } = this.view.own.keys;
    this.change({ keys });
    const has = usual === undefined ? "only its digit" : `the key ${this.view.keys.print(usual)}`;
    return this.say(`“${this.label(name)}” now has ${has}.`);
  }

  /** @param {string} words */
  say(words) {
    this.waiting = null;
    this.view.setText("keysSay", words);
    this.view.render();
  }

  /** A new key is waited for. @param {string} name */
  askKey(name) {
    if (this.waiting === name) return this.say("");
    this.waiting = name;
    this.view.setText("keysSay", `Press the new key for “${this.label(name)}”, or Esc to keep the current one.`);
    return this.view.render();
  }

  /**
   * While a new key is waited for, any other meaning of it waits as well.
   *
   * @param {KeyboardEvent} event
   * @param {Pressed} pressed
   * @returns {Reaction | undefined}
   */
  takeKey(event, { key }) {
    const { waiting } = this;
    if (!waiting) return undefined;
    if (MODIFIERS.includes(event.key)) return null;
    if (event.key === "Tab") {
      // goes on, and leaves things as they are
      this.say("");
      return null;
    }
    return event.key === "Escape" ? () => this.say("") : () => this.giveKey(waiting, key);
  }

  // -------------------------------------------------------------------------------------------------- panel

  renderPanel() {
    const { view } = this;
    for (const name of LOOK_NAMES) {
      const { steps, unit } = LOOKS[name];
      const value = this.look(name);
      view.setText(`${name}Is`, unit ? `${value} ${unit}` : value.toFixed(1));
      for (const [node, end] of /** @type {const} */ ([
        ["Less", 0],
        ["More", steps.length - 1],
      ])) {
        // Not disabled: that would take the focus away from whoever presses it.
        view.node(`${name}${node}`).setAttribute("aria-disabled", String(steps.indexOf(value) === end));
      }
    }
    for (const { node, on } of Object.values(SWITCHES))
      view.node(node).setAttribute("aria-checked", String(on(view.own)));
    this.renderRows();
  }

  /** One row for each action and grade; made once, so that the focus stays where it is. */
  renderRows() {
    const { view } = this;
    const { keys, own, data } = view;
    const drawn = `${keys.version} ${this.waiting}`;
    if (this.drawnRows === drawn) return;
    this.drawnRows = drawn;
    const rows = view.node("keyRows");
    if (!rows.childElementCount) {
      const names = [...data.scale.map(({ grade }) => `digit:${grade}`), ...view.actions.keys()];
      rows.replaceChildren(...names.map((name) => this.row(name)));
    }
    for (const row of rows.children) {
      const [ask, usual] = /** @type {HTMLElement[]} */ ([...row.children]);
      const name = ask?.dataset.name ?? "";
      const waits = this.waiting === name;
      const caps = [this.gradeOf(name)?.grade.toString() ?? "", keys.cap(name)].filter(Boolean);
      const shown = waits
        ? ["press a key"]
        : caps.length
          ? caps.map((textContent) => make("kbd", { textContent }))
          : ["no key"];
      ask?.firstElementChild?.replaceChildren(...shown);
      ask?.classList.toggle("cd-waits", waits);
      ask?.setAttribute("aria-pressed", String(waits));
      if (usual) setHidden(usual, !(name in own.keys));
    }
    view.setHidden("usualKeys", !Object.keys(own.keys).length);
  }

  /** @param {string} name */
  row(name) {
    const row = make("li");
    const ask = make("button", { type: "button", className: "cd-key" });
    Object.assign(ask.dataset, { do: "rekey", name });
    ask.append(make("span", { className: "cd-caps" }), apart("span", this.label(name)));
    const usual = smallButton("Reset", "usual-key", { name });
    usual.title = "Reset to the default key";
    usual.setAttribute("aria-label", `Reset to the default key: ${this.label(name)}`);
    row.append(ask, usual);
    return row;
  }
}

/** The name of an action or of a grade. @param {View} view @param {string} name */
export function labelOf({ data }, name) {
  const grade = data.scale.find((each) => `digit:${each.grade}` === name);
  if (grade) return `${grade.grade} ${grade.label}`;
  const label = data.keys.actions[name]?.label ?? name;
  return name === "help" ? byInput(label, "Grades") : label; // without a keyboard the panel lists the grades alone
}

/** The list of keys, and closing of panels. @implements {Part} */
export class Help {
  /** @param {View} view */
  constructor(view) {
    this.actions = { help: { run: () => view.togglePanel("help"), panel: "help", anywhere: true } };
    this.panels = { help: { node: "helpPanel" } };
    this.clicks = { close: () => view.setPanel(null) };
  }
}
