// The annotator's own words in a text, and terms of a review: words, "words in a row", prefixes* and *endings, without case and accents.

/** @import { Place } from "../types.js" */

import { union } from "./places.js";

/** Letters of languages that do not part their words: each is a word here, so that any stretch of them is found. */
const UNPARTED = "[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}\u30fc\u3005]";
const JOINED = "[\\p{M}\u00ad\u200c\u200d]";
const WORD = new RegExp(
  `${UNPARTED}${JOINED}*|[\\p{L}\\p{N}](?:(?!${UNPARTED})(?:[\\p{L}\\p{N}]|${JOINED}))*(?:[+#]+(?![\\p{L}\\p{N}]))?`, // C++
  "gu",
);
const PARTS =
  /["\u201c\u201e\u00ab]([^"\u201c\u201d\u00bb]+)["\u201c\u201d\u00bb]?|[^\s"\u201c\u201d\u201e\u00ab\u00bb]+/gu;

/** Accents, points and signs of no width; not the vowels that other scripts write as such. */
const UNSEEN = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u00ad\u200c\u200d]/g;

/** Signs between two words in a row. */
const BETWEEN = 4;

/** @param {string} text */
const wordsOf = (text) =>
  [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
    plain: word.normalize("NFKD").replace(UNSEEN, "").toLowerCase().normalize("NFC"),
    begin: index,
    end: index + word.length,
  }));

/** The search terms: words in a row, each of which may be a prefix, or characters without words. @param {string} written */
const soughtIn = (written) =>
  [...written.matchAll(PARTS)].map(({ 0: whole, 1: quoted }) => {
    const signs = (quoted ?? whole).trim();
    const words = wordsOf(signs).map((word) => ({
      ...word,
      isPrefix: signs[word.end] === "*",
      isEnding: signs[word.begin - 1] === "*",
    }));
    const last = words.at(-1);
    if (last && signs.endsWith("*")) last.isPrefix = true;
    return { words, signs: signs.replaceAll("*", "") };
  });

/** @param {string} word @param {string} plain @param {{ isPrefix: boolean, isEnding: boolean }} stars */
function isFound(word, plain, { isPrefix, isEnding }) {
  if (isPrefix && isEnding) return word.includes(plain);
  if (isPrefix) return word.startsWith(plain);
  return isEnding ? word.endsWith(plain) : word === plain;
}

/** The places of an annotator's own words in a text, in UTF-16 units. @param {string} written @param {string} text */
export function findOwnWords(written, text) {
  const sought = soughtIn(written);
  const row = sought.some(({ words }) => words.length) ? wordsOf(text) : [];
  /** @type {Place[]} */
  const matches = [];
  for (const { words, signs } of sought) {
    const last = words.length - 1;
    for (let i = 0; last >= 0 && i + last < row.length; i += 1) {
      const fits = words.every(({ plain, begin, ...stars }, k) => {
        const word = row[i + k];
        if (!word || !isFound(word.plain, plain, stars)) return false;
        // Letters without blanks between them are sought as they stand.
        return k === 0 || word.begin - (row[i + k - 1]?.end ?? 0) <= (begin === words[k - 1]?.end ? 0 : BETWEEN);
      });
      if (fits) matches.push([row[i]?.begin ?? 0, row[i + last]?.end ?? 0]);
    }
    for (let at = signs && last < 0 ? text.indexOf(signs) : -1; at >= 0; at = text.indexOf(signs, at + signs.length))
      matches.push([at, at + signs.length]);
  }
  return union(matches);
}

/**
 * Terms of a review as {@link findOwnWords} reads them: several words are a phrase, also without quotation marks.
 *
 * @param {string[]} terms
 */
export const writtenTerms = (terms) =>
  terms.map((term) => (/["\u201c\u201d\u201e\u00ab\u00bb]/.test(term) ? term : `"${term}"`)).join(" ");
