// Sentences of the card in the words of a campaign.

/** Replaces words in a text. As the tag of a template, it leaves the inserted values unchanged. @typedef {(text: string | readonly string[], ...values: unknown[]) => string} InWords */

/**
 * Returns a function that puts texts of the card into the words of the campaign, and keeps initial capitals.
 *
 * @param {Record<string, string> | undefined} words phrases in lower case -> their replacements @returns {InWords}
 */
export function inWords(words) {
  const phrases = Object.keys(words ?? {}).sort((a, b) => b.length - a.length);
  const escaped = phrases.map((phrase) => phrase.replace(/[?.]/g, "\\$&"));
  const pattern = new RegExp(`(?<!\\p{L})(?:${escaped.join("|")})(?!\\p{L})`, "giu");
  const put = (/** @type {string} */ text) =>
    text.replace(pattern, (found) => {
      const word = words?.[found.toLowerCase()] ?? found;
      return found.charAt(0) === found.charAt(0).toLowerCase() ? word : word.charAt(0).toUpperCase() + word.slice(1);
    });
  const change = phrases.length ? put : (/** @type {string} */ text) => text;
  return (text, ...values) =>
    typeof text === "string"
      ? change(text)
      : text.map((part, i) => `${i ? values[i - 1] : ""}${change(part)}`).join("");
}
