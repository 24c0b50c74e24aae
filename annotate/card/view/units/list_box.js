// A list of which one row can be selected, while the focus is on the list or on a field beside it.

import { apart, cut, make, setHidden } from "../frame/nodes.js";

/** @template Row */
export class ListBox {
  /**
   * @param {HTMLElement} node @param {HTMLElement[]} focused what has the focus meanwhile, and names the selected row
   * @param {string} action the `data-do` of its rows @param {(row: Row) => string} idOf
   * @param {(row: Row) => Node[]} content
   */
  constructor(node, focused, action, idOf, content) {
    this.node = node;
    this.focused = focused;
    this.action = action;
    this.idOf = idOf;
    this.content = content;
    /** @type {Row[]} */
    this.rows = [];
    /** The id of the selected row. @type {string | null} */
    this.chosen = null;
    this.drawn = "";
  }

  get at() {
    return this.rows.findIndex((row) => this.idOf(row) === this.chosen);
  }

  /** The selected row, or the one that a node draws. @param {HTMLElement} [node] */
  row(node) {
    return this.rows[node ? Number(node.dataset.at) : this.at];
  }

  /** Selects a row so many further down, where none is selected the first. @param {number} by */
  step(by) {
    const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, this.at + by))];
    if (row) this.chosen = this.idOf(row);
  }

  /** @param {Row[]} rows */
  draw(rows) {
    const { node, action, content } = this;
    const drawn = JSON.stringify(rows);
    if (this.drawn !== drawn)
      node.replaceChildren(
        ...rows.map((row, i) => {
          const properties = { id: `${node.id}-${i}`, role: "option", ariaSelected: "false" };
          return make("li", { ...properties, dataset: { do: action, at: `${i}` } }, ...content(row));
        }),
      );
    Object.assign(this, { rows, drawn });
    setHidden(node, !rows.length);
    const former = node.querySelector("[aria-selected=true]");
    const chosen = node.children[this.at];
    for (const each of this.focused) each.setAttribute("aria-activedescendant", chosen?.id ?? "");
    if (former === chosen) return;
    if (former) former.ariaSelected = "false";
    if (chosen) chosen.ariaSelected = "true";
    chosen?.scrollIntoView({ block: "nearest" });
  }
}

/** The first line of a row: a document's title, and what is said of it. @param {string} title @param {Node[]} said */
export const headLine = (title, ...said) =>
  make("div", { className: "cd-found-head" }, apart("b", cut(title, 200)), ...said);
