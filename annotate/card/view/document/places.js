// Places in texts. The server counts code points, JavaScript UTF-16 units; a place is [start, end) in either.

/** @import { Doc, Place } from "../types.js" */

/** The number of leading items that are first, by binary search. @param {number} length @param {(i: number) => boolean} isFirst */
export function countFirst(length, isFirst) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isFirst(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Converts places of one text. */
export class Ruler {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    /** @type {number[] | undefined} */
    this.starts = undefined;
  }

  /** Starts of characters that take two code units; usually there are none. */
  get pairs() {
    this.starts ??= [...this.text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map(({ index }) => index);
    return this.starts;
  }

  /** @param {number} points */
  units(points) {
    return points + countFirst(this.pairs.length, (i) => (this.pairs[i] ?? 0) - i < points);
  }

  /** @param {number} units */
  points(units) {
    return units - countFirst(this.pairs.length, (i) => (this.pairs[i] ?? 0) + 2 <= units);
  }
}

/** Places in order, those that touch as one. @param {Place[]} places */
export function union(places) {
  /** @type {Place[]} */
  const joined = [];
  for (const [start, end] of [...places].sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** A place without the blanks around it, if there is more. @param {string} text @param {Place} place @returns {Place[]} */
function trimmed(text, [begin, end]) {
  const part = text.slice(begin, end);
  const words = part.trim();
  const from = begin + part.indexOf(words);
  return words ? [[from, from + words.length]] : [];
}

/** No sign that people read as one is longer. */
const LONGEST_SIGN = 500;

/** A place of whole signs, as people read them, without the blanks around it. @param {string} text @param {Place} place */
export function wholeSigns(text, [begin, end]) {
  const signs = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  /** @param {number} units @param {boolean} isEnd */
  const edge = (units, isEnd) => {
    const start = Math.max(0, units - LONGEST_SIGN);
    const sign = signs.segment(text.slice(start, units + LONGEST_SIGN)).containing(units - start);
    if (!sign || start + sign.index === units) return units;
    return start + sign.index + (isEnd ? sign.segment.length : 0);
  };
  return trimmed(text, [edge(begin, false), edge(end, true)]);
}

const LONG_SENTENCE = 300;

/** Ends of sentences in texts without capitals. */
const SENTENCE_MARKS = /\s[.;](?=\s)|[?!](?=\s)/g;

/** A sentence that is too long to be one, cut after such signs. @param {string} text @param {Place} place @param {RegExp} marks @returns {Place[]} */
function shorter(text, [begin, end], marks) {
  if (end - begin <= LONG_SENTENCE) return [[begin, end]];
  const cuts = [...text.slice(begin, end).matchAll(marks)].map((match) => begin + match.index + match[0].length);
  return [begin, ...cuts].map((from, i) => [from, cuts[i] ?? end]);
}

/** The sentences of a text, in UTF-16 units. @param {string} text @param {boolean} keepsLines */
export function sentencesOf(text, keepsLines) {
  // A line end inside of a paragraph ends no sentence, where lines are not kept as they are.
  const lines = /(?<=[^\n]{40})\r?\n(?=[^\n\r])/g;
  const plain = keepsLines ? text : text.replace(lines, (end) => " ".repeat(end.length));
  return [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(plain)]
    .flatMap(({ index, segment }) => shorter(plain, [index, index + segment.length], SENTENCE_MARKS))
    .flatMap((place) => shorter(text, place, /\n/g))
    .flatMap((place) => trimmed(text, place));
}

/** A stretch of a folded text, or a gap without text; in code points. @typedef {{ start: number, end: number, text: string | null }} Piece */

/** The drawn pieces of a folded text. `opened` gaps beyond the loaded text stay hidden. @param {Doc} doc @param {Place[]} opened */
export function piecesOf({ text, length, excerpts }, opened) {
  const here = text ?? "";
  const ruler = new Ruler(here);
  const shown = opened.filter((gap) => gap[1] <= ruler.points(here.length));
  /** @type {[start: number, end: number, words: string][]} */
  const known = shown.map(([start, end]) => [start, end, here.slice(ruler.units(start), ruler.units(end))]);
  /** @type {Piece[]} */
  const pieces = [];
  let at = 0;
  for (const [start, end, words] of [...(excerpts ?? []), ...known].sort((a, b) => a[0] - b[0])) {
    if (end <= at) continue;
    if (start > at) pieces.push({ start: at, end: start, text: null });
    const begin = Math.max(start, at);
    const part = words.slice(new Ruler(words).units(begin - start));
    const last = pieces.at(-1);
    if (last && last.text !== null) Object.assign(last, { end, text: last.text + part });
    else pieces.push({ start: begin, end, text: part });
    at = end;
  }
  if (at < length) pieces.push({ start: at, end: length, text: null });
  return pieces;
}
