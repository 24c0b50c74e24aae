// A document as it is drawn in some nodes.

/** @import { Doc, Place } from "../core/types.js" */
/** @import { Marked } from "./highlights.js" */
/** @import { View } from "./view.js" */
/** @import { DocumentAnswer } from "../wire.d.ts" */

import { causeOf, Failure } from "../shell/network.js";
import { drawChips } from "./chips.js";
import { cut, forward, setHidden } from "./nodes.js";
import { drawPictures } from "./pictures.js";
import { Segment, Sheet } from "./text.js";

/** @typedef {Record<"chips" | "pictures" | "text" | "missing", HTMLElement> & Partial<Record<"title" | "docId", HTMLElement>>} DocumentNodes */

export class DrawnDocument {
  /** @param {DocumentNodes} nodes @param {number} mostChips */
  constructor(nodes, mostChips) {
    this.nodes = nodes;
    this.mostChips = mostChips;
    this.sheet = new Sheet(nodes.text);
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {Segment[]} */
    this.title = [];
  }

  /** Draws a document, folded to its excerpts and what was opened between them unless that is null. @param {Doc} doc @param {Place[] | null} opened */
  draw(doc, opened = null) {
    const { mostChips, nodes } = this;
    const former = this.doc;
    this.doc = doc;
    this.sheet.draw(doc, opened);
    if (former === doc) return;
    setHidden(nodes.missing, doc.text !== null);
    if (former?.images !== doc.images) drawPictures(nodes.pictures, doc);
    if (former?.metadata !== doc.metadata) drawChips(nodes.chips, doc.metadata, mostChips);
    // Browsers choose letters and line ends by the language that a document says it is in.
    const said = doc.metadata.lang ?? doc.metadata.language;
    const lang = typeof said === "string" && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(said) ? said : "";
    for (const node of [nodes.title, nodes.text]) if (node && node.lang !== lang) node.lang = lang;
    if (!nodes.title || !nodes.docId) return;
    const title = cut(doc.title || doc.doc_id, 1_000);
    this.title = [new Segment(0, title, nodes.title)];
    nodes.title.textContent = forward(title);
    nodes.docId.textContent = forward(cut(doc.doc_id, 200));
    setHidden(nodes.docId, !doc.title); // without a title the id stands in its place
  }

  /** Where the topic's words are. @returns {Marked[]} */
  get marked() {
    const { doc, sheet, title } = this;
    const text = { terms: doc?.terms ?? [], segments: sheet.segments };
    return [{ terms: doc?.title_terms ?? [], segments: title }, text];
  }
}

/**
 * The whole of a document that was cut; null if it cannot be had, which is said.
 *
 * @param {View} view
 * @param {Doc} doc one of those on screen
 * @returns {Promise<Doc | null>}
 */
export async function fetchWhole({ card, item }, doc) {
  card.say("Loading the full text \u2026");
  const { notice } = card.state;
  /** What was said meanwhile stays. @param {string} words */
  const say = (words) => card.state.notice === notice && card.say(words);
  try {
    const body = { query_id: item?.unit.queryId, doc_id: doc.doc_id };
    /** @type {DocumentAnswer} */
    const { text, html, terms } = await card.network.post("document", body);
    if (typeof text !== "string") throw new Failure(-1);
    say("");
    return { ...doc, text, html, terms, truncated: false };
  } catch (error) {
    say(`The full text could not be loaded: ${causeOf(error)}.`);
    return null;
  }
}
