// Numbers, plurals and lists as people read them, by the rules of collection/core/phrases.py.

const FIGURES = new Intl.NumberFormat("en");

/** @param {number} number */
export const figure = (number) => FIGURES.format(number);

/** The form of a word that agrees with a number. @param {number} number @param {string} one */
export const plural = (number, one, many = `${one}s`) => (number === 1 ? one : many);

/** A number with its noun. @param {number} number @param {string} one @param {string} [many] */
export const count = (number, one, many) => `${figure(number)} ${plural(number, one, many)}`;

/** A list in a sentence. @param {readonly (string | number)[]} items */
export const join = (items, last = "and") =>
  items.length > 1 ? `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}` : String(items[0] ?? "");

/** @param {string} text */
export const asSentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, "");
