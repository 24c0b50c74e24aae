// Which words of a text are those of the topic, or the annotator's own. Part of every card.
//
// Words are compared without case and accents and by a light stem; a language that does not part its words is searched
// for stretches of letters. It need not be clever: what is highlighted guides the eye, and decides nothing.

const FUNCTION_WORDS = new Set((
  "a about above after again against all also although am among an and another any are as at be because been before being "
  + "below between both but by can could did do does doing down during each either else ever every few for from further get gives "
  + "given had has have having he her here hers him his how however i if in into is it its itself just like made make many may me "
  + "might more most much must my neither no nor not of off on once one only or other ought our ours out over own per rather same she "
  + "should since so some such than that the their theirs them then there these they this those through to too under until up upon us "
  + "use used using very via was we were what when where whether which while who whom whose why will with within without would you "
  + "your yours cannot isn aren don doesn didn won couldn shouldn "
  // what descriptions of needs say of themselves
  + "document documents describe describes describing discuss discusses discussing find information relevant identify contain contains concerning "
  + "associated based problem problems show shows simply "
  + "want wants wanted need needs needed instead "
  // the most frequent words of some other languages
  + "der das den dem ein eine einer eines und oder ist sind mit von zu zum zur im auf fur wie wird werden nicht auch als bei nach aus "
  + "le la les un une du et ou est sont dans pour par sur avec que qui quels quelles comment ce cette ces aux ne pas "
  + "el los las una unos y es son en con por para como del al se su sus il lo gli della delle nel che di da per sono com dos "
  + "das nos na os uma het een van de en op te"
).split(" "));

const UNPARTED = "\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}\u30fc\u3005";
const HAS_UNPARTED = new RegExp(`[${UNPARTED}]`, "u");
const UNPARTED_RUN = new RegExp(`[${UNPARTED}]+`, "gu");
const WORD_END = "(?:['\u2019]\\p{L}+|[+#]+(?![\\p{L}\\p{N}]))?"; // wing's, C++
const WORDS = new RegExp(`[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}\u00ad\u200c\u200d]*${WORD_END}`, "gu");
const PARTED_WORDS = new RegExp(`(?![${UNPARTED}])[\\p{L}\\p{N}](?:(?![${UNPARTED}])[\\p{L}\\p{N}\\p{M}\u00ad\u200c\u200d])*${WORD_END}`, "gu");
const UNSEEN_SIGNS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u00ad\u200c\u200d]/g;
const ASCII = /^[\x00-\x7f]*$/;

/** Without case, accents, points, ligatures and signs of no width. */
function folded(word) {
  if (ASCII.test(word)) return word.toLowerCase();
  return word.normalize("NFKD").replace(UNSEEN_SIGNS, "").toLowerCase().normalize("NFC");
}

/** A folded word without its commonest English endings: plural, -ed, -ing. Others stay as they are. */
function stemOf(word) {
  let stem = word.replace(/['\u2019].*$/, "");
  if (stem.startsWith("\u0627\u0644") && stem.length > 4) return stem.slice(2); // the Arabic article
  if (stem.length < 4 || !/^[a-z]+$/.test(stem)) return stem;
  if (/[^sui]s$/.test(stem)) stem = stem.slice(0, -1);
  const cut = stem.replace(/(?:(?<!e)ed|ing)$/, "");
  if (cut !== stem && cut.length > 2 && /[aeiouy]/.test(cut)) stem = cut.replace(/([bdfgmnprt])\1$/, "$1");
  else if (stem.length > 3 && stem.endsWith("e")) stem = stem.slice(0, -1);
  return stem.replace(/([^aeiou])y$/, "$1i");
}

const HANGUL = /[\uac00-\ud7af]/;

/** What to look for: the stems of some words, beginnings of words, stretches of letters, and words in a row. */
const noTerms = () => ({ stems: new Set(), openings: [], starts: [], pieces: new Set(), phrases: [], verdicts: new Map() });

function addWord(terms, word) {
  const stem = stemOf(folded(word));
  if (!stem) return;
  terms.stems.add(stem);
  if (stem.length >= (HANGUL.test(stem) ? 2 : 5)) terms.openings.push(stem);
}

/** The words of a language that does not part them; by twos where the browser cannot tell. */
function addRun(terms, run) {
  const found = [];
  if (globalThis.Intl?.Segmenter) {
    for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(run)) {
      if (isWordLike && segment.length > 1) found.push(segment);
    }
  } else {
    for (let i = 0; i + 1 < run.length; i += 1) found.push(run.slice(i, i + 2));
  }
  for (const piece of found.length ? found : [run]) terms.pieces.add(piece);
}

/** The terms of a topic: all words but those that every text has. */
function termsOf(...texts) {
  const terms = noTerms();
  for (const text of texts) {
    for (const [run] of (text ?? "").matchAll(UNPARTED_RUN)) addRun(terms, run);
    for (const [word] of (text ?? "").matchAll(PARTED_WORDS)) {
      const plain = folded(word);
      if (plain.length > 1 && !FUNCTION_WORDS.has(plain) && !FUNCTION_WORDS.has(plain.replace(/['\u2019].*$/, ""))) addWord(terms, word);
    }
  }
  return terms;
}

/** What an annotator has written: words, "words in a row", and beginnings*. */
function ownTermsOf(text) {
  const terms = noTerms();
  for (const [whole, quoted] of text.matchAll(/["\u201c\u201e\u00ab]([^"\u201c\u201d\u00bb]+)["\u201c\u201d\u00bb]?|[^\s"\u201c\u201d\u201e\u00ab\u00bb]+/gu)) {
    const part = quoted ?? whole;
    for (const [run] of part.matchAll(UNPARTED_RUN)) terms.pieces.add(run);
    const words = [...part.matchAll(PARTED_WORDS)].map(([word]) => word);
    if (quoted === undefined && part.endsWith("*") && words.length === 1) terms.starts.push(folded(words[0]));
    else if (words.length > 1) terms.phrases.push(words.map(folded));
    else if (words.length === 1 && quoted !== undefined) terms.phrases.push(words.map(folded));
    else if (words.length === 1) addWord(terms, words[0]);
    else if (!HAS_UNPARTED.test(part) && part.replace(/\*/g, "")) terms.pieces.add(part); // signs: §, %
  }
  return terms;
}

const isEmpty = ({ stems, starts, pieces, phrases }) => !stems.size && !starts.length && !pieces.size && !phrases.length;

const MOST_VERDICTS = 50_000;

function hasWord(terms, word) {
  let verdict = terms.verdicts.get(word);
  if (verdict === undefined) {
    if (terms.verdicts.size > MOST_VERDICTS) terms.verdicts.clear();
    verdict = judgeWord(terms, folded(word));
    terms.verdicts.set(word, verdict);
  }
  return verdict;
}

function judgeWord({ stems, openings, starts }, word) {
  const stem = stemOf(word);
  if (stems.has(stem)) return true;
  if (starts.some((start) => word.startsWith(start))) return true;
  return openings.some((term) => {
    const longer = stem.length - term.length;
    if (longer > 0) return longer <= Math.max(term.length - 2, 2) && stem.startsWith(term);
    return longer >= -3 && stem.length >= 5 && term.startsWith(stem);
  });
}

/** The places of some terms in a text, [begin, end, begin, end, ...] in UTF-16 units, in order and apart. */
function findTerms(terms, text) {
  const places = [];
  if (isEmpty(terms)) return places;
  const unparted = HAS_UNPARTED.test(text);
  const words = unparted ? PARTED_WORDS : WORDS;
  const { phrases } = terms;
  const row = phrases.length ? [] : null;
  words.lastIndex = 0;
  for (let match = words.exec(text); match; match = words.exec(text)) {
    const [word] = match;
    if (hasWord(terms, word)) places.push(match.index, match.index + word.length);
    row?.push([match.index, folded(word), match.index + word.length]);
  }
  const parted = places.length;
  for (const phrase of phrases) findPhrase(places, row, phrase);
  for (const piece of terms.pieces) {
    for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + piece.length)) places.push(at, at + piece.length);
  }
  return places.length === parted ? places : merged(places);
}

const BETWEEN = 4; // signs between two words of a phrase

function findPhrase(places, row, phrase) {
  for (let i = 0; i + phrase.length <= row.length; i += 1) {
    const fits = phrase.every((word, k) => row[i + k][1] === word && (k === 0 || row[i + k][0] - row[i + k - 1][2] <= BETWEEN));
    if (fits) places.push(row[i][0], row[i + phrase.length - 1][2]);
  }
}

/** In order, and what overlaps as one. */
function merged(places) {
  const pairs = [];
  for (let i = 0; i < places.length; i += 2) pairs.push([places[i], places[i + 1]]);
  pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const flat = [];
  for (const [begin, end] of pairs) {
    if (flat.length && begin <= flat.at(-1)) flat[flat.length - 1] = Math.max(flat.at(-1), end);
    else flat.push(begin, end);
  }
  return flat;
}

const KEPT_TEXTS = 32;

/** {@link findTerms}, remembered for some texts: those that come next are looked through before they are shown. */
function placesIn(terms, text) {
  terms.places ??= new Map();
  let places = terms.places.get(text);
  if (!places) {
    if (terms.places.size >= KEPT_TEXTS) terms.places.delete(terms.places.keys().next().value);
    places = findTerms(terms, text);
    terms.places.set(text, places);
  }
  return places;
}

// ------------------------------------------------------------------------------------- any signs in a row

/** A text to search in without case and accents, and for each of its units where that comes from. */
function searchable(text) {
  if (ASCII.test(text) && !/\s\s|[^\S ]/.test(text)) return { plain: text.toLowerCase(), from: null };
  let plain = "";
  const from = [];
  let at = 0;
  for (const sign of text) {
    let part = sign;
    if (/\s/.test(sign)) part = plain.endsWith(" ") ? "" : " "; // any blanks are one
    else part = sign <= "\u007f" ? sign.toLowerCase() : folded(sign);
    for (let i = 0; i < part.length; i += 1) from.push(at);
    plain += part;
    at += sign.length;
  }
  from.push(at);
  return { plain, from };
}

/** Where some signs occur in a text as {@link searchable} gives it: [begin, end] in units of the text itself. */
function findSigns({ plain, from }, sought) {
  const signs = searchable(sought).plain;
  const hits = [];
  if (!signs.trim()) return hits;
  for (let at = plain.indexOf(signs); at >= 0; at = plain.indexOf(signs, at + signs.length)) {
    const end = at + signs.length;
    hits.push(from ? [from[at], from[end - 1] === from[end] ? from[end] + 1 : from[end]] : [at, end]);
  }
  return hits;
}
