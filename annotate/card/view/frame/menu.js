// The menu of actions that have no button on the card.

/** @import { Part, Source, View } from "../types.js" */

import { labelOf } from "./keys.js";
import { make } from "./nodes.js";

/** @param {View} view @returns {Part} */
export function menu(view) {
  const list = view.node("moreList");
  const buttonsIn = (/** @type {HTMLElement} */ node) =>
    /** @type {HTMLElement[]} */ ([...node.querySelectorAll("button[data-do]")]);
  const canRun = (/** @type {string} */ name) => view.actions.get(name)?.when?.() ?? true;

  /** @param {string} name */
  function row(name) {
    const cap = view.keys.cap(name);
    const words = make("span", {}, labelOf(view, name));
    const dataset = { do: "from-more", name };
    return make("li", {}, make("button", { type: "button", dataset }, make("kbd", { hidden: !cap }, cap), words));
  }

  /** Opens the menu with the actions that have no visible button: the available width decides which have one. */
  function open() {
    const inSight = buttonsIn(view.root).filter((each) => each.offsetParent);
    const shown = new Set(inSight.map(({ dataset }) => dataset.do));
    list.replaceChildren(...[...view.actions.keys()].filter((name) => !shown.has(name) && canRun(name)).map(row));
    view.setPanel("more");
    return buttonsIn(list)[0]?.focus({ preventScroll: true });
  }

  /** @param {string} name @param {Source} source */
  function choose(name, source) {
    view.setPanel(null);
    if (canRun(name)) view.actions.get(name)?.run(source);
  }

  return {
    clicks: { "from-more": ({ dataset }) => choose(dataset.name ?? "", "click") },
    panels: {
      more: {
        open,
        /** Arrow keys move through the menu; any other key closes it and keeps its meaning. */
        keys(event, { key }) {
          const buttons = buttonsIn(list);
          const at = view.active ? buttons.indexOf(view.active) : -1;
          const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
          if (to !== undefined) return () => buttons.at(to % buttons.length)?.focus();
          const name = view.keys.names.get(key);
          const isListed = name && name !== "more" && buttons.some(({ dataset }) => dataset.name === name);
          return isListed ? () => choose(name, "key") : undefined;
        },
      },
    },
  };
}
