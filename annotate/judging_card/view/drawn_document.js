// A document as it is drawn in some nodes.

/** @import { Doc, Place } from "../core/types.js" */
/** @import { Marked } from "./highlights.js" */
/** @import { View } from "./view.js" */

import { causeOf, Failure } from "../shell/network.js";
import { drawChips } from "./chips.js";
import { cut, forward, setHidden } from "./nodes.js";
import { drawPictures } from "./pictures.js";
import { Segment, Sheet } from "./text.js";

/** @typedef {Record<"chips" | "pictures" | "text" | "missing", HTMLElement> & { title?: HTMLElement, id?: HTMLElement }} DocumentNodes */

export class DrawnDocument {
  /** @param {DocumentNodes} nodes @param {{ chips: number, title: number }} most chips, and characters of the title */
  constructor(nodes, most) {
    this.nodes = nodes;
    this.most = most;
    this.sheet = new Sheet(nodes.text);
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {Segment[]} */
    this.title = [];
  }

  /** Draws a document; gaps between its excerpts that are `opened` make it a folded one. @param {Doc} doc @param {Place[] | null} opened */
  draw(doc, opened = null) {
    this.sheet.draw(doc, opened);
    if (this.doc === doc) return;
    const { nodes, most } = this;
    const former = this.doc;
    this.doc = doc;
    setHidden(nodes.missing, doc.text !== null);
    if (former?.metadata !== doc.metadata) this.drawFields(doc);
    if (former?.images !== doc.images) drawPictures(nodes.pictures, doc);
    if (!nodes.title || !nodes.id) return;
    const title = cut(doc.title || doc.doc_id, most.title);
    this.title = [new Segment(0, title, nodes.title)];
    nodes.title.textContent = forward(title);
    nodes.id.textContent = forward(cut(doc.doc_id, 200));
    setHidden(nodes.id, !doc.title); // without a title the id stands in its place
  }

  /** @param {Doc} doc */
  drawFields({ metadata }) {
    const { nodes, most } = this;
    drawChips(nodes.chips, metadata, most.chips);
    // Browsers choose letters and line ends by the language that a document says it is in.
    const said = metadata.lang ?? metadata.language;
    const lang = typeof said === "string" && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(said) ? said : "";
    for (const node of [nodes.title, nodes.text]) if (node && node.lang !== lang) node.lang = lang;
  }

  /** Where the topic's words are. @returns {Marked[]} */
  get marked() {
    const { doc, sheet, title } = this;
    if (!doc) return [];
    return [
      { terms: doc.title_terms, segments: title },
      { terms: doc.terms, segments: sheet.segments },
    ];
  }
}

/**
 * The whole of a document that was cut; null if it cannot be had, which is said.
 *
 * @param {View} view
 * @param {Doc} doc of the unit on screen
 * @returns {Promise<Doc | null>}
 */
export async function fetchWhole({ card, item }, doc) {
  card.say("Loading the full text \u2026");
  const { notice } = card.state;
  /** What was said meanwhile stays. @param {string} words */
  const say = (words) => card.state.notice === notice && card.say(words);
  try {
    const { text, html, terms } = await card.post("document", { query_id: item?.unit.queryId, doc_id: doc.doc_id });
    if (typeof text !== "string") throw new Failure(-1);
    say("");
    return { ...doc, text, html, terms, truncated: false };
  } catch (error) {
    say(`The full text could not be loaded: ${causeOf(error)}.`);
    return null;
  }
}
