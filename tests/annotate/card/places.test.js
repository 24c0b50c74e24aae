// Places in texts: code points and UTF-16 units, folded texts, sentences, passages.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { piecesOf, Ruler, sentencesOf, union, wholeSigns } from "../../../annotate/card/view/document/places.js";

const TEXT = "One 😀 two 👩‍👩‍👧 three e\u0301.";

/** @param {Partial<import("../../../annotate/card/core/types.js").Doc>} changes */
const document = (changes) => ({
  doc_id: "d1",
  title: "",
  form: /** @type {const} */ ("text"),
  text: "",
  html: null,
  length: changes.text?.length ?? 0,
  truncated: false,
  metadata: {},
  images: [],
  excerpts: null,
  terms: [],
  title_terms: [],
  ...changes,
});

test("places go from code points to units and back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.nat(), (text, at) => {
      const points = [...text];
      const place = at % (points.length + 1);
      const units = points.slice(0, place).join("").length;
      const ruler = new Ruler(text);
      assert.equal(ruler.units(place), units);
      assert.equal(ruler.points(units), place);
    }),
  );
});

test("a place inside of a pair counts its sign as before it", () => {
  assert.equal(new Ruler("a😀b").points(2), 2);
});

test("a text without pairs needs no conversion", () => {
  const ruler = new Ruler("plain");
  assert.deepEqual([ruler.units(3), ruler.points(5), ruler.units(0)], [3, 5, 0]);
});

test("passages that touch are one, in order", () => {
  assert.deepEqual(
    union([
      [8, 9],
      [4, 6],
      [0, 2],
      [6, 7],
      [5, 6],
    ]),
    [
      [0, 2],
      [4, 7],
      [8, 9],
    ],
  );
});

test("joining passages changes none of those given, and covers what they cover", () => {
  const place = fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 9 })).map(([start, length]) => [start, start + length]);
  fc.assert(
    fc.property(fc.array(place), (places) => {
      const given = /** @type {[number, number][]} */ (places);
      const before = structuredClone(given);
      const joined = union(given);
      assert.deepEqual(given, before);
      /** @param {[number, number][]} all */
      const covered = (all) =>
        [...Array(60).keys()].filter((at) => all.some(([start, end]) => start <= at && at < end));
      assert.deepEqual(covered(joined), covered(given));
      assert.ok(joined.every(([start], i) => i === 0 || (joined[i - 1]?.[1] ?? 0) < start));
    }),
  );
});

test("whole signs are marked, without the blanks around them", () => {
  /** @param {number} begin @param {number} end */
  const words = (begin, end) => {
    const [place] = wholeSigns(TEXT, [begin, end]);
    return place && TEXT.slice(...place);
  };
  assert.equal(words(3, 10), "😀 two");
  const family = TEXT.indexOf("👩");
  assert.equal(words(family + 3, family + 4), "👩‍👩‍👧");
  const accented = TEXT.indexOf("e\u0301");
  assert.equal(words(accented, accented + 1), "e\u0301");
  assert.equal(words(3, 4), undefined);
  assert.equal(words(0, TEXT.length), TEXT);
});

// ----------------------------------------------------------------------------------------- folded texts

test("a folded text has its excerpts, and gaps between them", () => {
  const text = "First 😀. Then this. And the last.";
  const doc = document({ text, length: [...text].length, excerpts: [[6, 8, "😀."]] });
  assert.deepEqual(piecesOf(doc, []), [
    { start: 0, end: 6, text: null },
    { start: 6, end: 8, text: "😀." },
    { start: 8, end: doc.length, text: null },
  ]);
});

test("a gap that is opened joins the excerpts around it", () => {
  const text = "a😀b cd ef";
  const doc = document({
    text,
    length: 9,
    excerpts: [
      [0, 2, "a😀"],
      [4, 6, "cd"],
    ],
  });
  assert.deepEqual(piecesOf(doc, [[2, 4]]), [
    { start: 0, end: 6, text: "a😀b cd" },
    { start: 6, end: 9, text: null },
  ]);
  assert.deepEqual(
    piecesOf(doc, [
      [2, 4],
      [6, 9],
    ]),
    [{ start: 0, end: 9, text }],
  );
});

test("excerpts of a text that was cut are there, and gaps behind the cut stay", () => {
  const doc = document({ text: "0123456789", truncated: true, length: 30, excerpts: [[20, 25, "words"]] });
  assert.deepEqual(piecesOf(doc, [[25, 30]]), [
    { start: 0, end: 20, text: null },
    { start: 20, end: 25, text: "words" },
    { start: 25, end: 30, text: null },
  ]);
});

test("excerpts that overlap are drawn once", () => {
  const doc = document({
    text: "0123456789",
    length: 10,
    excerpts: [
      [2, 6, "2345"],
      [3, 5, "34"],
      [4, 8, "4567"],
    ],
  });
  assert.deepEqual(piecesOf(doc, []), [
    { start: 0, end: 2, text: null },
    { start: 2, end: 8, text: "234567" },
    { start: 8, end: 10, text: null },
  ]);
});

test("pieces cover a folded text once, in order, with its words", () => {
  const place = fc.tuple(fc.nat(39), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", " ", "😀", "é"), { minLength: 50, maxLength: 50 }),
      fc.array(place, { minLength: 1, maxLength: 4 }),
      fc.array(place, { maxLength: 4 }),
      (signs, excerpts, opened) => {
        const doc = document({
          text: signs.join(""),
          length: 50,
          excerpts: excerpts.map(([at, length]) => [at, at + length, signs.slice(at, at + length).join("")]),
        });
        const pieces = piecesOf(
          doc,
          opened.map(([at, length]) => [at, at + length]),
        );
        let at = 0;
        for (const { start, end, text } of pieces) {
          assert.equal(start, at);
          if (text !== null) assert.equal(text, signs.slice(start, end).join(""));
          at = end;
        }
        assert.equal(at, 50);
        assert.ok(pieces.every(({ text }, i) => i === 0 || (text === null) !== (pieces[i - 1]?.text === null)));
      },
    ),
  );
});

// -------------------------------------------------------------------------------------------- sentences

/** @param {string} text @param {boolean} keepsLines */
const sentences = (text, keepsLines = false) => sentencesOf(text, keepsLines).map((place) => text.slice(...place));

test("sentences of several scripts", () => {
  assert.deepEqual(sentences("First one 😀. Is it\nthe second? 第三の文。 A last one "), [
    "First one 😀.",
    "Is it",
    "the second?",
    "第三の文。",
    "A last one",
  ]);
});

test("a line end inside a paragraph ends no sentence, unless lines are kept", () => {
  const text = "The flow of air over the upper side of a wing is\r\nfaster than that below. A second one.";
  assert.deepEqual(sentences(text), [text.slice(0, 73), "A second one."]);
  assert.equal(sentences(text, true).length, 3);
});

test("a text without capitals is cut at its marks, and a long line at its end", () => {
  const part =
    "the flow past a wing in a slipstream was measured at some angles of attack and at two speeds of the tunnel";
  assert.equal(sentences(`${part} .  ${part} ; ${part}? ${part} .\n${part} ; ${part}`).length, 6);
  assert.equal(sentences(Array.from({ length: 6 }, (_, n) => `${n} ${part}`).join("\n")).length, 6);
  assert.deepEqual(sentences("it is small . and stays as it is"), ["it is small . and stays as it is"]);
});

test("a text of blanks has no sentences", () => {
  assert.deepEqual(sentences(" \n "), []);
});
