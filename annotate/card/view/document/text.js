/**
 * Stretches of a text as it is drawn, and where its places are on the page.
 *
 * It may stand there whole or in pieces with gaps between them, as it is or as markup. So what else is done with it
 * (highlights, marks) goes by its segments and never by its nodes.
 */

/** @import { Place } from "../types.js" */

import { countFirst, Ruler } from "./places.js";
import { liveRange } from "./selection.js";

/** A stretch of a text as it is drawn: `start` is its place in the whole text, in code points. */
export class Segment {
  /** @param {number} start @param {string} text @param {HTMLElement} root */
  constructor(start, text, root) {
    this.start = start;
    this.text = text;
    this.root = root;
    this.ruler = new Ruler(text);
    /** @type {number | undefined} */
    this.points = undefined;
    /** @type {{ node: Text, at: number }[] | undefined} */
    this.textNodes = undefined;
  }

  /** Its text nodes, each with its place in UTF-16 units. */
  get nodes() {
    this.textNodes ??= textNodes(this.root);
    return this.textNodes;
  }

  /** Its end in the whole text, in code points. */
  get end() {
    this.points ??= this.start + this.ruler.points(this.text.length);
    return this.points;
  }

  /** A place in the whole text. @param {number} units */
  placeOf(units) {
    return this.start + this.ruler.points(units);
  }

  /** The nearest place here to one in the whole text. @param {number} place */
  unitsOf(place) {
    return Math.min(this.text.length, this.ruler.units(Math.max(0, place - this.start)));
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
export function textNodes(root) {
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
export const stretchesOf = (segments, place) =>
  segments.flatMap((segment) => {
    if (segment.start >= place[1] || segment.end <= place[0]) return [];
    const [begin, end] = [segment.unitsOf(place[0]), segment.unitsOf(place[1])];
    return begin < end ? [{ segment, begin, end }] : [];
  });

/** @param {Segment[]} segments @param {Place} place in code points */
export const rangesOf = (segments, place) =>
  stretchesOf(segments, place).flatMap(({ segment, begin, end }) => segment.range(begin, end));

/** The place of a boundary point; one outside of the segments is moved to the nearest of them. @param {Segment[]} segments @param {Node} container @param {number} offset @param {boolean} isEnd */
export function placeOf(segments, container, offset, isEnd) {
  let before = null;
  for (const segment of segments) {
    const range = document.createRange();
    range.selectNodeContents(segment.root);
    const side = range.comparePoint(container, offset);
    if (side < 0) return isEnd && before !== null ? before : segment.start;
    if (side === 0) range.setEnd(container, offset);
    before = segment.placeOf(range.toString().length);
    if (side === 0) return before;
  }
  return before ?? 0;
}

/** The top of a place on the page; if the place is not drawn, of the text after it. @param {Segment[]} segments @param {number} place */
export function topOf(segments, place) {
  const [stretch] = stretchesOf(segments, [place, Infinity]);
  return stretch?.segment.box(stretch.begin)?.top ?? null;
}
