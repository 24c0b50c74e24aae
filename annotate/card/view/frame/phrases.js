// Numbers, plurals, durations and lists as people read them, by the rules of collection/core/phrases.py.

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

/** A number with so many decimals; halves become even, as in Python. @param {number} number */
export function rounded(number, digits = 0) {
  /** @type {Intl.NumberFormatOptions} */
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven" };
  return number.toLocaleString("en", options);
}

/**
 * A duration as an amount and its unit: working time has no days.
 *
 * @param {number} seconds @returns {[amount: string, unit: "second" | "minute" | "hour"]}
 */
function inUnit(seconds) {
  if (Math.round(seconds) < 90) return [rounded(seconds), "second"];
  if (Math.round(seconds / 60) < 90) return [rounded(seconds / 60), "minute"];
  const hours = seconds / 3600;
  const digits = hours < 10 && Math.abs(hours - Math.round(hours)) > 0.05 ? 1 : 0;
  return [rounded(hours, digits), "hour"];
}

/** A duration in the largest unit that fits, up to hours. @param {number} seconds */
export function duration(seconds) {
  const [amount, unit] = inUnit(seconds);
  return `${amount} ${amount === "1" ? unit : `${unit}s`}`;
}

const SIGNS = { second: "s", minute: "min", hour: "h" };

/** A duration for a table, with the sign of its unit. @param {number} seconds */
export function briefly(seconds) {
  const [amount, unit] = inUnit(seconds);
  return `${amount} ${SIGNS[unit]}`;
}

/**
 * An interval of durations in seconds, in the unit of its upper end where both fit.
 *
 * @param {number} low @param {number} high
 */
export function durationRange(low, high) {
  const [start, first] = inUnit(low);
  const [end, last] = inUnit(high);
  if (first !== last) return `${duration(low)} to ${duration(high)}`;
  return start === end ? duration(high) : `${start}-${end} ${last}s`;
}

/** @param {string} text */
export const asSentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, "");
