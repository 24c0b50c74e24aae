// Numbers, plurals, durations and lists as people read them, by the rules of collection/phrases.py. Part of every card.

const FIGURES = new Intl.NumberFormat("en");

const figure = (number) => FIGURES.format(number);

/** The form of a word that agrees with a number. */
const plural = (number, one, many = `${one}s`) => (number === 1 ? one : many);

/** A number with its noun. */
const count = (number, one, many) => `${figure(number)} ${plural(number, one, many)}`;

/** A list in a sentence. */
const join = (items, last = "and") => (
  items.length > 1 ? `${items.slice(0, -1).join(", ")} ${last} ${items.at(-1)}` : String(items[0] ?? ""));

/** A number with so many decimals; halves become even, as in Python. */
const rounded = (number, digits = 0) => number.toLocaleString(
  "en", { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven" });

/** A duration in seconds as an amount and its unit: working time has no days. */
function inUnit(seconds) {
  if (Math.round(seconds) < 90) return [rounded(seconds), "second"];
  if (Math.round(seconds / 60) < 90) return [rounded(seconds / 60), "minute"];
  const hours = seconds / 3600;
  const digits = hours < 10 && Math.abs(hours - Math.round(hours)) > 0.05 ? 1 : 0;
  return [rounded(hours, digits), "hour"];
}

/** A duration in the largest unit that fits, up to hours. */
function duration(seconds) {
  const [amount, unit] = inUnit(seconds);
  return `${amount} ${amount === "1" ? unit : `${unit}s`}`;
}

/** A duration for a table, with the sign of its unit. */
function briefly(seconds) {
  const [amount, unit] = inUnit(seconds);
  return `${amount} ${{ second: "s", minute: "min", hour: "h" }[unit]}`;
}

/** An interval of durations, in the unit of its upper end where both fit. */
function durationRange(low, high) {
  const [[start, first], [end, last]] = [inUnit(low), inUnit(high)];
  if (first !== last) return `${duration(low)} to ${duration(high)}`;
  return start === end ? duration(high) : `${start}-${end} ${last}s`;
}

const asSentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, "");
