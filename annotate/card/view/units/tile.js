// A document in a small place: in a list, in a pair, or with what annotators said of it.

/** @import { Doc, Part, View } from "../types.js" */

import { DrawnDocument, fetchWhole } from "../document/drawn_document.js";
import { make, setHidden } from "../frame/nodes.js";
import { figure } from "../frame/phrases.js";

export class Tile extends DrawnDocument {
  /** @param {HTMLElement} place @param {{ title?: boolean }} options whether it has a title of its own */
  constructor(place, { title = true } = {}) {
    const heading = title && {
      title: make("h2", { className: "cd-apart", dir: "auto" }),
      docId: make("div", { className: "cd-id cd-apart", dataset: { name: "id" } }),
    };
    const nodes = {
      ...heading,
      chips: make("div", { className: "cd-chips" }),
      pictures: make("div", { className: "cd-pictures", hidden: true }),
      text: make("div", { className: "cd-text cd-apart", dir: "auto" }),
      missing: make("p", { className: "cd-note", textContent: "The text of this document has not been imported." }),
    };
    super(nodes, 4);
    this.all = make("button", { type: "button", className: "cd-small cd-all" });
    place.append(...Object.values(nodes), this.all);
  }

  /** @param {Doc} doc */
  draw(doc) {
    if (this.doc === doc) return;
    super.draw(doc);
    setHidden(this.all, !doc.truncated);
    Object.assign(this.all.dataset, { do: "show-all", doc: doc.doc_id });
    this.all.textContent = `Show all (${figure(doc.length)} characters)`;
  }
}

/** Actions on documents in small tiles. @param {View} view @returns {Part} */
export const tiles = (view) => ({
  clicks: {
    enlarge: (button) => button.classList.toggle("cd-enlarged"), // as large as its place, or as large as it is
    "show-all"({ dataset }) {
      const doc = view.item?.unit.documents.find(({ doc_id }) => doc_id === dataset.doc);
      return doc && fetchWhole(view, doc);
    },
  },
});
