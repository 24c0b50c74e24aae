// The menu of all that has no button of its own on the card.

/** @import { Part, Pressed, Reaction, Source } from "./types.js" */
/** @import { View } from "./view.js" */

import { make } from "./nodes.js";

/** @implements {Part} */
export class Menu {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.actions = { more: { run: () => this.open(), panel: "more" } };
    this.clicks = { "from-more": (/** @type {HTMLElement} */ { dataset }) => this.choose(dataset.name ?? "", "click") };
    this.panels = {
      more: {
        node: "morePanel",
        keys: (/** @type {KeyboardEvent} */ event, /** @type {Pressed} */ { key }) => this.react(event.key, key),
      },
    };
  }

  get buttons() {
    return [.../** @type {NodeListOf<HTMLElement>} */ (this.view.node("moreList").querySelectorAll("button"))];
  }

  /** Which actions have a button, says the width that is there. */
  open() {
    const { view } = this;
    if (view.panel === "more") return view.setPanel(null);
    const all = /** @type {NodeListOf<HTMLElement>} */ (view.root.querySelectorAll("button[data-do]"));
    const shown = new Set([...all].filter((each) => each.offsetParent).map(({ dataset }) => dataset.do));
    const names = [...view.actions.keys()].filter((name) => !shown.has(name) && this.canRun(name));
    view.node("moreList").replaceChildren(
      ...names.map((name) => {
        const cap = view.keys.cap(name);
        const button = make("button", { type: "button" });
        Object.assign(button.dataset, { do: "from-more", name });
        button.append(
          make("kbd", { textContent: cap, hidden: !cap }),
          make("span", { textContent: view.data.keys.actions[name]?.label ?? name }),
        );
        const row = make("li");
        row.append(button);
        return row;
      }),
    );
    view.setPanel("more");
    return this.buttons[0]?.focus({ preventScroll: true });
  }

  /** @param {string} name */
  canRun(name) {
    return this.view.actions.get(name)?.when?.() ?? true;
  }

  /** @param {string} name @param {Source} source */
  choose(name, source) {
    this.view.setPanel(null);
    if (this.canRun(name)) this.view.actions.get(name)?.run(source);
  }

  /** Arrows go through the menu; a key does what it always does, and the menu is closed. @param {string} pressed @param {string} key @returns {Reaction | undefined} */
  react(pressed, key) {
    const { buttons, view } = this;
    const at = view.active ? buttons.indexOf(view.active) : -1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[pressed];
    if (to !== undefined) return () => buttons[(to + buttons.length) % buttons.length]?.focus();
    const name = view.keys.names.get(key);
    const isListed = name && name !== "more" && buttons.some(({ dataset }) => dataset.name === name);
    return isListed ? () => this.choose(name, "key") : undefined;
  }
}
