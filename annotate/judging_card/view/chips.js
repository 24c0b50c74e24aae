// What is known of a document besides its text.

import { cut, forward, make } from "./nodes.js";

const SHOWN_ADDRESS = 60;

/** A link that leaves: nothing of this page goes along with it. @param {URL} url @param {string} words */
export function linkTo(url, words) {
  const link = make("a", { href: url.href, target: "_blank", referrerPolicy: "no-referrer" });
  link.rel = "noopener noreferrer nofollow";
  link.textContent = forward(cut(words.replace(/^https?:\/\//i, ""), SHOWN_ADDRESS));
  return link;
}

/** An address of the web; null for all else, and for what a browser would run. @param {string} address @param {string} [base] */
export function webAddress(address, base) {
  try {
    const url = new URL(address, base);
    return ["http:", "https:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

/** @param {unknown} value */
function wordsOf(value) {
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
  return isList ? value.join(", ") : JSON.stringify(value);
}

/** @param {[string, unknown]} entry */
function chip([key, value]) {
  const url = typeof value === "string" && /^https?:\/\/\S+$/i.test(value) ? webAddress(value) : null;
  const words = `${key}: ${wordsOf(value)}`;
  const node = make("span", { className: "cd-chip cd-apart", dir: "auto", title: words.slice(0, 1000) });
  // One line; the style sheet ends it with an ellipsis.
  node.textContent = forward(url ? `${key.slice(0, 100)}: ` : words.slice(0, 200));
  if (url) node.append(linkTo(url, String(value)));
  return node;
}

/** Draws a chip for each field; those after `most` behind a button. @param {HTMLElement} node @param {Record<string, unknown>} metadata @param {number} most */
export function drawChips(node, metadata, most) {
  const fields = Object.entries(metadata).filter(([, value]) => value !== null && value !== "");
  const chips = fields.slice(0, most).map(chip);
  const hidden = fields.length - chips.length;
  node.replaceChildren(...chips);
  if (!hidden) return;
  const more = make("button", { type: "button", className: "cd-more-chips", textContent: `${hidden} more` });
  more.dataset.do = "more-chips";
  more.addEventListener("click", () => drawChips(node, metadata, Number.POSITIVE_INFINITY));
  node.append(more);
}
