/**
 * How the text of a document is drawn, and where its places are on the page.
 *
 * It may stand there whole or in pieces with gaps between them, as it is or as markup. So what else is done with it
 * (highlights, marks) goes by its segments and never by its nodes.
 */

/** @import { Doc, Place } from "../core/types.js" */

import { forward, make } from "./nodes.js";
import { count } from "./phrases.js";
import { countFirst, piecesOf, Ruler } from "./places.js";
import { liveRange } from "./selection.js";

/** A stretch of a text as it is drawn: `start` is its place in the whole text, in code points. */
export class Segment {
  /** @param {number} start @param {string} text @param {HTMLElement} root */
  constructor(start, text, root) {
    this.start = start;
    this.text = text;
    this.root = root;
    this.ruler = new Ruler(text);
    /** @type {{ node: Text, at: number }[] | null} */
    this.found = null;
  }

  /** Its text nodes, each with its place in UTF-16 units. */
  get nodes() {
    this.found ??= textNodes(this.root);
    return this.found;
  }

  /** The place in the whole text. @param {number} units */
  placeOf(units) {
    return this.start + this.ruler.points(units);
  }

  /** @param {Place} place in UTF-16 units @returns {Place} */
  placed([begin, end]) {
    return [this.placeOf(begin), this.placeOf(end)];
  }

  /** A range over some of it, in UTF-16 units; not a live one, which would slow down the page. @param {number} begin @param {number} end */
  range(begin, end) {
    const { nodes } = this;
    if (!nodes.length) return [];
    /** An end belongs to the node before it. @param {number} units @param {boolean} isEnd @returns {[Text, number]} */
    const point = (units, isEnd) => {
      const before = countFirst(nodes.length, (i) => (nodes[i]?.at ?? 0) < units + (isEnd ? 0 : 1));
      const { node, at } = /** @type {typeof nodes[number]} */ (nodes[Math.max(0, before - 1)]);
      return [node, Math.min(units - at, node.data.length)];
    };
    const [startContainer, startOffset] = point(begin, false);
    const [endContainer, endOffset] = point(end, true);
    return [new StaticRange({ startContainer, startOffset, endContainer, endOffset })];
  }

  /** The box of one letter; that of a letter after it where the one has none, as at the end of a line. @param {number} units */
  box(units) {
    for (let at = units; at < Math.min(units + 40, this.text.length); at += 1) {
      const [range] = this.range(at, at + 1).map(liveRange);
      const box = range?.getClientRects()[0];
      if (box?.height) return box;
    }
    return null;
  }
}

/** @param {Node} root */
function textNodes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let at = 0;
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    nodes.push({ node, at });
    at += node.data.length;
  }
  return nodes;
}

/** The segments that a place in code points touches, each with what it touches in its own units. @param {Segment[]} segments @param {Place} place */
export const stretchesOf = (segments, [start, end]) =>
  segments.flatMap((segment) => {
    const { ruler, text } = segment;
    const begin = ruler.units(Math.max(0, start - segment.start));
    const stop = Math.min(text.length, ruler.units(Math.max(0, end - segment.start)));
    return begin < stop ? [{ segment, begin, end: stop }] : [];
  });

/** @param {Segment[]} segments @param {Place} place in code points */
export const rangesOf = (segments, place) =>
  stretchesOf(segments, place).flatMap(({ segment, begin, end }) => segment.range(begin, end));

/** A node with a text in it. */
export class Sheet {
  /** @param {HTMLElement} node */
  constructor(node) {
    this.node = node;
    /** Replaced with each drawing. @type {Segment[]} */
    this.segments = [];
    this.form = "";
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {Place[] | null} */
    this.opened = null;
  }

  /** Draws a text, whole or folded to its excerpts and what was opened between them. @param {Doc} doc @param {Place[] | null} opened */
  draw(doc, opened) {
    if (this.doc === doc && this.opened === opened) return;
    Object.assign(this, { doc, opened });
    const { node } = this;
    const text = doc.text ?? "";
    // Markup is drawn whole only: a stretch of it is plain text.
    const html = doc.form === "markup" && !opened && !doc.truncated ? doc.html : null;
    this.setForm(html !== null ? "markup" : doc.form === "preformatted" ? "preformatted" : "text");
    this.segments = opened ? this.drawPieces(doc, opened) : [new Segment(0, text, node)];
    if (html !== null) {
      node.innerHTML = html; // made safe by the server; besides the guidelines the one place where markup comes in
      if (forward(text) !== text) for (const each of textNodes(node)) each.node.data = forward(each.node.data);
    } else if (!opened) node.textContent = forward(text);
  }

  /** @param {string} form */
  setForm(form) {
    if (this.form === form) return;
    this.form = form;
    const { node } = this;
    node.dataset.form = form;
    // Lines that are kept may be longer than their place, which then scrolls sideways: by Shift and the arrows, or in the box.
    for (const [name, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": "Preformatted text" }))
      if (form === "preformatted") node.setAttribute(name, value);
      else node.removeAttribute(name);
  }

  /** @param {Doc} doc @param {Place[]} opened */
  drawPieces(doc, opened) {
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
    this.node.replaceChildren(...nodes);
    return segments;
  }

  /** The place of a boundary point; one outside of the text is moved to the nearest of it. @param {Node} container @param {number} offset @param {boolean} isEnd */
  placeOf(container, offset, isEnd) {
    const point = document.createRange();
    point.setStart(container, offset);
    let before = null;
    for (const segment of this.segments) {
      for (const { node, at } of segment.nodes) {
        if (node === container) return segment.placeOf(at + offset);
        if (point.comparePoint(node, 0) > 0) return isEnd && before !== null ? before : segment.placeOf(at);
        before = segment.placeOf(at + node.data.length);
      }
    }
    return before ?? 0;
  }

  /** The first letter of the text below an edge, and where it is; null while the beginning of the text is. @param {number} edge */
  firstBelow(edge) {
    if (this.node.getBoundingClientRect().top >= edge) return null;
    const segment = this.segments.find(({ root, text }) => text && root.getBoundingClientRect().bottom > edge);
    if (!segment) return null;
    const units = countFirst(segment.text.length - 1, (i) => (segment.box(i)?.bottom ?? 0) <= edge);
    const top = segment.box(units)?.top;
    return top === undefined ? null : { place: segment.placeOf(units), top };
  }

  /** Where a place of the text is now, or what follows it where it is left out. @param {number} place */
  topOf(place) {
    for (const segment of this.segments) {
      const units = segment.ruler.units(Math.max(0, place - segment.start));
      if (units < segment.text.length) return segment.box(units)?.top ?? null;
    }
    return null;
  }
}
