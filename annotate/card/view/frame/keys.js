// Keys and clicks, and the actions that they run.

/** @import { Action, On, Part, Pressed, Reaction, View } from "../types.js" */

import { liveRange, selectedRange } from "../document/selection.js";
import { make, setHidden } from "./nodes.js";

/** Keys that scroll: by two lines, a screen, or to an end. @type {Record<string, number>} */
export const SCROLL = { ArrowUp: -1, ArrowDown: 1, PageUp: -2, PageDown: 2, " ": 2, Home: -3, End: 3 };

/** Parts of the page that have keys of their own. */
const FOREIGN =
  "[role=dialog],[role=menu],[role=listbox],[role=combobox],[role=slider],[role=radiogroup],[role=grid],[data-testid=stPopoverBody]";

/** Choices of the app's menu, such as that of the task: after a click they keep the focus, and only need some keys. */
const MENU_CHOICE = "[data-testid=stSidebar] input[type=radio]";

/** Keys that no action can have: panels and fields need them, and the page itself takes `r` and `c`. */
const OF_FIELDS = ["Escape", "Enter", "Tab", "Shift", "Backspace", "Delete"];
export const TAKEN = new Set(["r", "c", ...OF_FIELDS, ...Object.keys(SCROLL)]);

/** Phones and tablets without a keyboard: no key is named there, here or in the style sheets. */
export const hasNoKeyboard = () => matchMedia("(hover: none) and (pointer: coarse)").matches;

/** The instruction for a keyboard, or for touch. @param {string} keyed @param {string} touched */
export const byInput = (keyed, touched) => (hasNoKeyboard() ? touched : keyed);

/** The name of an action or of a grade. @param {View} view @param {string} name */
export function labelOf({ data, words }, name) {
  const grade = data.scale.find((each) => `digit:${each.grade}` === name);
  if (grade) return `${grade.grade} ${grade.label}`;
  if (name.startsWith("digit:")) return `Answer ${name.slice("digit:".length)}`;
  const label = words(data.keys.actions[name]?.label ?? name);
  return name === "help" ? byInput(label, words("Grades")) : label; // without a keyboard the panel lists the grades alone
}

/**
 * A digit by its sign or, on layouts that need Shift for it, by its place on the keyboard; a letter by its sign or, on a
 * keyboard that is not Latin, by its place.
 *
 * @param {KeyboardEvent} event @returns {Pressed}
 */
function pressedOf({ code = "", key, shiftKey }) {
  const digit = /^[0-9]$/.exec(key)?.[0] ?? (shiftKey ? undefined : /^Digit([0-9])$/.exec(code)?.[1]);
  if (digit !== undefined) return { key: digit, digit: Number(digit) };
  const letter = (key > "\u007f" && /^Key([A-Z])$/.exec(code)?.[1]) || key;
  return { key: key.length === 1 ? letter.toLowerCase() : key, digit: null };
}

/** @param {HTMLElement} node */
const isField = (node) => node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName);

/** @param {KeyboardEvent} event @param {HTMLElement} field */
const leavesField = (event, field) =>
  event.key === "Escape" || (event.key === "Enter" && field.dataset.enter === "leaves");

/** @implements {Part} */
export class Keys {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** The action of each key. @type {Map<string, string>} */
    this.names = new Map();
    this.areNamed = true;
  }

  /** @param {On} on */
  attach(on) {
    const { view } = this;
    on(window, "keydown", (/** @type {KeyboardEvent} */ event) => this.press(event), { capture: true });
    on(view.root, "click", (/** @type {MouseEvent} */ event) => this.click(event));
    return undefined;
  }

  // ------------------------------------------------------------------------------------------ which is which

  /** The key of an action for this annotator; "" for none. @param {string} name */
  keyOf(name) {
    return this.view.own.keys[name] ?? this.view.data.keys.actions[name]?.key ?? "";
  }

  /** The action of each key. The annotator's own keys take precedence: an action whose default key is taken has none. */
  map() {
    const { own, actions } = this.view;
    this.names = new Map();
    for (const [name, key] of Object.entries(own.keys)) {
      if (key && !TAKEN.has(key) && (actions.has(name) || name.startsWith("digit:"))) this.names.set(key, name);
    }
    for (const name of actions.keys()) {
      const key = this.keyOf(name);
      if (!(name in own.keys) && !this.names.has(key)) this.names.set(key, name);
    }
    this.areNamed = !hasNoKeyboard(); // to ask at each key would make the browser lay out what that has changed
    this.list();
  }

  /** The label of a key. @param {string} key */
  print(key) {
    return this.view.data.caps[key] ?? key;
  }

  /** The key that an action really has, which another may have taken, as it is printed; "" for none. @param {string} name */
  cap(name) {
    const key = this.keyOf(name);
    return this.names.get(key) === name ? this.print(key) : "";
  }

  /** The key of an action for a sentence; "" where there is no keyboard. @param {string} name */
  hint(name) {
    return this.areNamed ? this.cap(name) : "";
  }

  // ------------------------------------------------------------------------------------------------- keys

  /** @param {KeyboardEvent} event */
  press(event) {
    const { view } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !view.root.offsetHeight) return;
    const path = /** @type {HTMLElement[]} */ (event.composedPath().filter((node) => node instanceof HTMLElement));
    const [target] = path;
    if (!target) return;
    const inside = path.includes(view.root);
    // Space does not press a link. The menu's link to this page keeps the focus after a click, but leads nowhere.
    const isHere = target.getAttribute("aria-current") === "page";
    const presses = (event.key === "Enter" && !isHere) || (event.key === " " && target.tagName !== "A");
    if (presses && ["BUTTON", "A", "SUMMARY"].includes(target.tagName)) {
      if (inside && event.repeat) event.preventDefault(); // a held Enter would press the button again and again
      return;
    }
    const react = this.reactionAt(event, path, target, inside);
    if (!react) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat || this.repeats(event)) react();
  }

  /** @param {KeyboardEvent} event @param {HTMLElement[]} path @param {HTMLElement} target @param {boolean} inside */
  reactionAt(event, path, target, inside) {
    const { view } = this;
    const isFree = target.matches(MENU_CHOICE) && !(event.key in SCROLL) && !event.key.startsWith("Arrow");
    if (!isFree && path.some(isField)) {
      if (inside) event.stopPropagation(); // seen from outside it is no field: the page's own keys would act on it
      const { openPanel } = view;
      const isOfPanel = openPanel?.field !== undefined && view.nodes[openPanel.field] === target;
      const react = isOfPanel ? openPanel.inField?.(event) : undefined;
      if (react !== undefined) return react;
      return inside && leavesField(event, target) ? () => this.leaveField(target) : null;
    }
    if (!inside && !isFree && path.some((node) => node.matches(FOREIGN))) return null;
    for (const part of inside ? view.parts : []) {
      const at = part.keyAt?.(event, target);
      if (at !== undefined) return at;
    }
    if (event.key in SCROLL && path.some((node) => this.scrollsItself(node))) return null;
    return this.reaction(event);
  }

  /** True if a held key repeats its action. @param {KeyboardEvent} event */
  repeats(event) {
    const { key } = pressedOf(event);
    const known = this.view.actions.get(this.names.get(key) ?? "");
    return known ? known.repeats : key in SCROLL;
  }

  /** Out of a field of the card: the keys act again; in a panel the panel is left as well. @param {HTMLElement} field */
  leaveField(field) {
    const { view } = this;
    if (view.panelNode?.contains(field)) view.setPanel(null);
    else view.letGo();
  }

  /** A panel beside the document that is longer than its place scrolls by itself while it has the focus. @param {HTMLElement} node */
  scrollsItself(node) {
    const { openPanel, panelNode } = this.view;
    if (node.dataset?.scrolls !== undefined) return true;
    return openPanel?.beside === true && node === panelNode && node.scrollHeight > node.clientHeight;
  }

  /** The current reaction to a key; null if the card does not use it. @param {KeyboardEvent} event @returns {Reaction} */
  reaction(event) {
    const { view } = this;
    const pressed = pressedOf(event);
    const { key } = pressed;
    const { openPanel } = view;
    const own = openPanel?.keys?.(event, pressed);
    if (own !== undefined) return own;
    if (key === "Escape") return openPanel ? () => view.setPanel(null) : this.escape();
    if (event.shiftKey && (key === "ArrowLeft" || key === "ArrowRight"))
      return this.sideways(key === "ArrowLeft" ? -1 : 1);
    const isFree = !openPanel || openPanel.beside;
    if (key === "Enter" && view.waiting && isFree) return () => view.begin();
    if ((key === "Enter" || key === "Backspace") && isFree) {
      const fixed = this.view.parts.find((part) => part.fixedKey)?.fixedKey?.(key);
      if (fixed !== undefined) return fixed;
    }
    const known = this.actionOf(pressed);
    const run = known && (() => known.run("key"));
    if (known?.anywhere || (openPanel && known?.panel === view.panel)) return run;
    // A panel covers the document: nothing is judged or moved behind it. Some are beside it.
    if (openPanel && !openPanel.beside) return known || key in SCROLL ? () => undefined : null;
    if (known?.when && !known.when()) return known.refusal ? () => view.card.say(known.refusal ?? "") : null;
    if (run) return run;
    if (key in SCROLL) return () => this.scroll((SCROLL[key] ?? 0) * (key === " " && event.shiftKey ? -1 : 1));
    return null;
  }

  /** The action of a key besides scrolling; a digit may have another key, `digit:2`. @param {Pressed} pressed @returns {Action | null} */
  actionOf({ key, digit }) {
    const own = this.names.get(key);
    const known = this.view.actions.get(own ?? "");
    const meant = own === undefined ? digit : /^digit:(\d+)$/.exec(own)?.[1];
    if (known || meant === undefined || meant === null) return known ?? null;
    const answers = this.view.parts.find((part) => part.digit);
    const number = Number(meant);
    const run = own !== undefined && answers?.number ? answers.number(number) : answers?.digit?.(number);
    return run ? { run } : null;
  }

  /** Escape where no panel is open: back from what was opened last. @returns {Reaction} */
  escape() {
    for (const part of this.view.parts) {
      const react = part.stepBack?.();
      if (react) return react;
    }
    return null;
  }

  // --------------------------------------------------------------------------------------------- scrolling

  /** By two lines, or by a screen of which two lines stay. @param {number} step */
  scroll(step) {
    if (this.view.parts.some((part) => part.scrolls?.(step))) return;
    const scroller = this.view.face.scroller(this.view);
    const style = getComputedStyle(scroller.node ?? this.view.root);
    const size = Number.parseFloat(style.getPropertyValue("--cd-text-size")) || 16;
    const lines = 2 * size * (Number.parseFloat(style.getPropertyValue("--cd-leading")) || 1.625);
    const by = [0, lines, scroller.clientHeight - lines, scroller.scrollHeight][Math.abs(step)] ?? 0;
    scroller.scrollBy(0, Math.sign(step) * by);
  }

  /**
   * Shift and an arrow: moves lines that are longer than their place. Where something is selected the browser extends that.
   *
   * @param {number} step @returns {Reaction}
   */
  sideways(step) {
    const range = selectedRange(this.view.root.getRootNode());
    if (range && liveRange(range).toString().trim()) return null; // one round a field that was left has no words
    const all = this.view.root.querySelectorAll("[data-form=preformatted], [data-form=markup] :is(pre, table)");
    const wide = [...all].filter((node) => node.scrollWidth > node.clientWidth);
    if (!wide.length) return null;
    return () => {
      for (const node of wide) node.scrollBy(step * node.clientWidth * 0.6, 0);
    };
  }

  // ------------------------------------------------------------------------------------------------ clicks

  /** A click on anything with `data-do`: an action, or what only buttons do. @param {MouseEvent} event */
  click(event) {
    const { view } = this;
    const target = /** @type {Element | null} */ (event.target);
    const button = /** @type {HTMLButtonElement | null} */ (target?.closest("[data-do]") ?? null);
    if (!button || button.disabled || button.getAttribute("aria-disabled") === "true") return;
    const name = button.dataset.do ?? "";
    if (view.parts.some((part) => part.mayClick?.(name) === false)) {
      if (event.detail > 0 && view.panel) view.focusPanel(); // else Enter would press the refused button once more
      return;
    }
    const known = view.actions.get(name);
    if (!known) view.clicks[name]?.(button, event);
    else if (!known.when || known.when()) known.run("click");
    // After a click with the mouse the space bar must scroll, not press the same button once more.
    if (event.detail > 0) view.cameFrom = null;
    if (event.detail > 0 && !view.panel) view.letGo();
  }

  // ----------------------------------------------------------------------------------------------- drawing

  /** Prints each action's key on its buttons, and lists all keys. */
  list() {
    const { view } = this;
    for (const cap of /** @type {NodeListOf<HTMLElement>} */ (view.root.querySelectorAll("kbd[data-key]"))) {
      cap.textContent = this.cap(cap.dataset.key ?? "");
      setHidden(cap, cap.textContent === "");
    }
    const { actions, fixed } = view.data.keys;
    const kbd = (/** @type {string} */ cap) => make("kbd", {}, cap);
    const lines = [...view.actions.keys()].flatMap((name) => {
      const cap = this.cap(name);
      return keyLine([cap ? kbd(cap) : "no key"], view.words(actions[name]?.help ?? ""));
    });
    view.node("actionKeys").replaceChildren(...lines);
    const asks = Boolean(view.data.questions?.length);
    const fixedLines = fixed.flatMap(({ keys, help, scale, questions = false }) => {
      const caps = keys.flatMap((key) => [key === "\u2026" ? key : kbd(this.print(key)), " "]);
      return scale || (questions && !asks) ? [] : keyLine(caps, view.words(help)); // grades are listed one by one
    });
    view.node("fixedKeys").replaceChildren(...fixedLines);
  }
}

/** @param {(string | Node)[]} caps @param {string} help */
const keyLine = (caps, help) => [make("dt", {}, ...caps), make("dd", {}, help)];
