// The annotator's own words in a text.

import assert from "node:assert/strict";
import test from "node:test";
import { findOwnWords, writtenTerms } from "../../../annotate/card/view/document/own_words.js";

/** @param {string} written @param {string} text */
const found = (written, text) => findOwnWords(written, text).map((place) => text.slice(...place));

const CASES = [
  ["words without case and accents", "wing ETUDES", "Wing; Études, e\u0301tudes", ["Wing", "Études", "e\u0301tudes"]],
  ["whole words only", "mean", "means meanwhile mean demean", ["mean"]],
  ["a prefix", "aero*", "Aeroelastic aero, aéronautique; hetaero", ["Aeroelastic", "aero", "aéronautique"]],
  ["an ending", "*triptan", "Naratriptan, triptan; triptans", ["Naratriptan", "triptan"]],
  ["letters inside", "*triptan*", "naratriptans, triptan, trip", ["naratriptans", "triptan"]],
  ["words in a row", '"heat flux"', "Heat flux; the heat\nflux, heat of flux", ["Heat flux", "heat\nflux"]],
  ["words in a row with other quotes", "\u201eheat flux\u201c", "heat flux", ["heat flux"]],
  ["a row that ends in a prefix", '"heat flu*"', "heat fluxes, heat flu, flux", ["heat fluxes", "heat flu"]],
  [
    "a row with a prefix inside",
    '"random* trial*"',
    "Randomised trials, random trial, trial",
    ["Randomised trials", "random trial"],
  ],
  ["a row that is not closed", '"heat flux', "the heat flux", ["heat flux"]],
  ["joined words as a row", "heat-flux", "heat flux, heat-flux; heatflux", ["heat flux", "heat-flux"]],
  ["signs", "§ 103 %", "§ 103, 1030 (5 %)", ["§", "103", "%"]],
  ["names with signs", "C++ F#", "C c++ f# F", ["c++", "f#"]],
  ["a word before an apostrophe", "wing", "the wing's and wing\u2019s", ["wing", "wing"]],
  ["scripts without spaces", "境界 計算", "飛行機の境界の計算と境の界", ["境界", "計算"]],
  ["Thai", "ภาษา", "เรียนภาษาไทย", ["ภาษา"]],
  ["a script without spaces beside another", "NumPy計算", "NumPy計算 NumPy 計算", ["NumPy計算"]],
  ["points and signs of no width", "שלום comma", "שָׁלוֹם com\u00adma", ["שָׁלוֹם", "com\u00adma"]],
  ["other marks are letters", "कि", "कि की", ["कि"]],
  ["overlaps as one", '"a b" "b c"', "a b c", ["a b c"]],
  ["nothing", ' * "" ', "* any", []],
];

for (const [name, written, text, expected] of /** @type {[string, string, string, string[]][]} */ (CASES)) {
  test(name, () => assert.deepEqual(found(written, text), expected));
}

test("terms of a review: several words are a phrase, and so is what stands in quotation marks", () => {
  const written = writtenTerms(["random*", "older adult*", '"balance training"']);
  const text = "Balance training in older adults; randomly; older and adults, training";
  assert.deepEqual(found(written, text), ["Balance training", "older adults", "randomly"]);
  assert.equal(writtenTerms([]), "");
});

test("places are units, in order", () => {
  assert.deepEqual(findOwnWords("b a", "😀 a b"), [
    [3, 4],
    [5, 6],
  ]);
});
