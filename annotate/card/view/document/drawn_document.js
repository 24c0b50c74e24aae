// A document as it is drawn in some nodes.

/** @import { Doc, DocumentAnswer, Marked, Place, View } from "../types.js" */

import { causeOf, Failure } from "../../shell/network.js";
import { drawChips } from "../frame/chips.js";
import { cut, forward, isMadeId, languageOf, make, setHidden, setWords, showAhead } from "../frame/nodes.js";
import { count } from "../frame/phrases.js";
import { drawNoPdf, drawPdfLink } from "./pdf.js";
import { drawPictures } from "./pictures.js";
import { countFirst, piecesOf, Ruler } from "./places.js";
import { Segment, textNodes } from "./text.js";

/** Characters of a text that is laid out before it is on screen: a longer one would hold up a key meanwhile. */
const MOST_AHEAD = 20_000;

/** @typedef {Record<"chips" | "pictures" | "text" | "missing", HTMLElement> & Partial<Record<"title" | "docId" | "textAhead", HTMLElement>>} DocumentNodes */

/** Whether a document is drawn as one text. @param {Doc} doc */
const isPlain = ({ excerpts, form, sentences, text }) =>
  form === "text" && Boolean(text) && !sentences && !excerpts?.length;

/** Browsers choose letters and line ends by the language that a document says it is in. @param {Doc} doc */
const languageOfDoc = ({ metadata }) => languageOf(metadata.lang ?? metadata.language);

export class DrawnDocument {
  /** @param {DocumentNodes} nodes @param {number} mostChips */
  constructor(nodes, mostChips) {
    this.nodes = nodes;
    this.mostChips = mostChips;
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {Place[] | null} */
    this.opened = null;
    /** The document whose text is in `nodes.textAhead`. @type {Doc | null} */
    this.ahead = null;
    /** The stretches of the text and of the title; replaced with each drawing. @type {Segment[]} */
    this.segments = [];
    /** @type {Segment[]} */
    this.title = [];
    /** Whether the numbers of an answer's sentences are buttons that mark them. */
    this.marksByNumber = false;
    /** Shows the text where the pages of a PDF file are in its place. */
    this.uncover = () => undefined;
    /** The places and words that are selected in the text. @type {() => { places: Place[], words: string }} */
    this.quote = () => ({ places: [], words: "" });
  }

  /** @param {Doc} doc @param {Place[] | null} opened */
  isDrawn(doc, opened) {
    return this.doc === doc && this.opened === opened;
  }

  /** Returns whether a document is another nugget of the drawn answer. @param {Doc} doc */
  isInAnswer(doc) {
    return doc.sentences !== undefined && this.doc?.sentences !== undefined && this.doc.text === doc.text;
  }

  /** Lays out the text of the document that comes next, out of sight; nothing if that is long or not a plain text. @param {Doc | undefined} doc */
  drawAhead(doc) {
    const node = this.nodes.textAhead;
    const ahead = doc?.text && doc.text.length <= MOST_AHEAD && isPlain(doc) ? doc : null;
    if (!node || ahead === this.ahead) return;
    this.ahead = ahead;
    setForm(node, "text");
    node.lang = ahead ? languageOfDoc(ahead) : "";
    setWords(node, ahead?.text ?? "");
  }

  /** Shows the text that was laid out ahead, in place of the one on screen; null if it is another one. @param {Doc} doc */
  turnTo(doc) {
    const { ahead, doc: former, nodes } = this;
    const { textAhead } = nodes;
    if (doc !== ahead || !textAhead || !former || !isPlain(former)) return null;
    showAhead(nodes, "text");
    this.ahead = former;
    return [new Segment(0, doc.text ?? "", textAhead)];
  }

  /** Draws a document, folded to its excerpts and what was opened between them unless that is null. @param {Doc} doc @param {Place[] | null} opened */
  draw(doc, opened = null) {
    const { doc: former, mostChips, nodes } = this;
    if (this.isDrawn(doc, opened)) return;
    const segments = this.isInAnswer(doc)
      ? this.segments
      : (this.turnTo(doc) ?? drawText(nodes.text, doc, opened, this.marksByNumber));
    Object.assign(this, { doc, opened, segments });
    if (former === doc) return;
    setHidden(nodes.missing, doc.text !== null && !doc.no_text);
    const missing = doc.no_text ?? "The text of this document has not been imported.";
    if (nodes.missing.textContent !== missing) nodes.missing.textContent = missing;
    if (former?.images !== doc.images) {
      drawPictures(nodes.pictures, doc);
      drawPdfLink(nodes.pictures, doc);
      drawNoPdf(nodes.pictures, doc);
    }
    if (former?.metadata !== doc.metadata) drawChips(nodes.chips, doc.metadata, mostChips);
    const lang = languageOfDoc(doc);
    for (const node of [nodes.title, nodes.text]) if (node && node.lang !== lang) node.lang = lang;
    if (!nodes.title || !nodes.docId) return;
    const title = cut(doc.title || doc.doc_id, 1_000);
    this.title = [new Segment(0, title, nodes.title)];
    setWords(nodes.title, title);
    setWords(nodes.docId, cut(doc.doc_id, 200));
    nodes.docId.classList.toggle("cd-made-id", isMadeId(doc.doc_id));
    setHidden(nodes.docId, !doc.title); // without a title the id stands in its place
  }

  /** The first letter in sight, and where it is; null while the beginning of the text is. @param {HTMLElement} scroller */
  inSight(scroller) {
    const edge = scroller.getBoundingClientRect().top;
    const segment = this.segments.find(({ root, text }) => text && root.getBoundingClientRect().bottom > edge);
    if (!segment || this.nodes.text.getBoundingClientRect().top >= edge) return null;
    const units = countFirst(segment.text.length - 1, (i) => (segment.box(i)?.bottom ?? 0) <= edge);
    const top = segment.box(units)?.top;
    return top === undefined ? null : { place: segment.placeOf(units), top };
  }

  /** The places of the topic's words. @returns {Marked[]} */
  get marked() {
    const { doc, segments, title } = this;
    return [
      { terms: doc?.title_terms ?? [], segments: title },
      { terms: doc?.terms ?? [], segments },
    ];
  }
}

/** @param {HTMLElement} node @param {Doc} doc @param {Place[] | null} opened @param {boolean} marksByNumber */
function drawText(node, doc, opened, marksByNumber) {
  // Markup is drawn whole only: a stretch of it is plain text.
  const html = doc.form === "markup" && !opened && !doc.truncated ? doc.html : null;
  setForm(node, doc.form === "markup" && html === null ? "text" : doc.form);
  if (doc.sentences) return drawSentences(node, doc.text ?? "", doc.sentences, marksByNumber);
  if (opened) return drawPieces(node, doc, opened);
  const text = doc.text ?? "";
  if (html === null) setWords(node, text);
  else {
    node.innerHTML = html; // made safe by the server; besides the guidelines the one place where markup comes in
    if (forward(text) !== text) for (const each of textNodes(node)) each.node.data = forward(each.node.data);
  }
  return [new Segment(0, text, node)];
}

/** @param {HTMLElement} node @param {Doc["form"]} form */
function setForm(node, form) {
  if (node.dataset.form === form) return;
  node.dataset.form = form;
  // Lines that are kept may be longer than their place, which then scrolls sideways: by Shift and the arrows, or in the box.
  const isWide = form === "preformatted";
  Object.assign(node, { role: isWide ? "group" : null, ariaLabel: isWide ? "Preformatted text" : null });
  if (isWide) node.tabIndex = 0;
  else node.removeAttribute("tabindex");
}

/** @param {HTMLElement} node @param {Doc} doc @param {Place[]} opened */
function drawPieces(node, doc, opened) {
  /** @type {Segment[]} */
  const segments = [];
  const nodes = piecesOf(doc, opened).map(({ start, end, text }) => {
    if (text === null) {
      const dataset = { do: "open-gap", start: String(start), end: String(end) };
      const words = make("span", {}, `Show ${count(end - start, "hidden character")}`);
      return make("button", { type: "button", className: "cd-gap", dataset }, words);
    }
    const root = make("div", { className: "cd-piece", dir: "auto", textContent: forward(text) });
    segments.push(new Segment(start, text, root));
    return root;
  });
  node.replaceChildren(...nodes);
  return segments;
}

/** Draws the sentences of an answer, numbered from 1; empty sentences are not drawn but counted. @param {HTMLElement} node @param {string} text @param {Place[]} places @param {boolean} marks */
function drawSentences(node, text, places, marks) {
  const ruler = new Ruler(text);
  /** @type {Segment[]} */
  const segments = [];
  const rows = places.flatMap(([start, end], i) => {
    const words = text.slice(ruler.units(start), ruler.units(end));
    if (!words) return [];
    const root = make("div", { dir: "auto", textContent: forward(words) });
    segments.push(new Segment(start, words, root));
    const [dataset, name] = [{ do: "mark-numbered", start: `${start}` }, `Mark sentence ${i + 1}`];
    const number = marks
      ? make("button", { type: "button", title: name, ariaLabel: name, ariaPressed: "false", dataset }, `${i + 1}`)
      : make("span", {}, `${i + 1}`);
    number.className = "cd-number";
    return [make("div", { className: "cd-numbered" }, number, root)];
  });
  node.replaceChildren(...rows);
  return segments;
}

/** Shows the whole of a document on screen that was cut; false if it cannot be had, which is said. @param {View} view @param {Doc} doc */
export async function fetchWhole({ card, item }, doc) {
  card.say("Loading the full text \u2026");
  const { notice } = card.state;
  /** Shows a message unless another one was shown in the meantime. @param {string} words */
  const say = (words) => card.state.notice === notice && card.say(words);
  try {
    const body = { query_id: item?.unit.queryId, doc_id: doc.doc_id };
    /** @type {DocumentAnswer} */
    const { text, html, terms } = await card.network.post("document", body);
    if (typeof text !== "string") throw new Failure(-1);
    say("");
    card.dispatch({ type: "whole", doc: { ...doc, text, html, terms, truncated: false } });
    return true;
  } catch (error) {
    say(`The full text could not be loaded: ${causeOf(error)}.`);
    return false;
  }
}
