// Chips for the metadata of a document.

import { cut, forward, make } from "./nodes.js";

/** An address of the web; null for all else, and for what a browser would run. @param {string} address @param {string} [base] */
export function webAddress(address, base) {
  const url = URL.canParse(address, base) ? new URL(address, base) : null;
  return url && ["http:", "https:"].includes(url.protocol) ? url : null;
}

/** A link that leaves: nothing of this page goes along with it. @param {URL} url @param {string} words */
export function linkTo(url, words) {
  const textContent = forward(cut(words.replace(/^https?:\/\//i, ""), 60));
  const rel = "noopener noreferrer nofollow";
  return make("a", { href: url.href, target: "_blank", rel, referrerPolicy: "no-referrer", textContent });
}

/** @param {[string, unknown]} field */
function chip([key, value]) {
  const isList = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
  const words = isList ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
  const url = typeof value === "string" && /^https?:\/\/\S+$/i.test(value) ? webAddress(value) : null;
  const all = `${key}: ${words}`;
  const node = make("span", { className: "cd-chip cd-apart", dir: "auto", title: all.slice(0, 1000) });
  // One line; the style sheet ends it with an ellipsis.
  node.textContent = forward(url ? `${key.slice(0, 100)}: ` : all.slice(0, 200));
  if (url) node.append(linkTo(url, words));
  return node;
}

/** Draws a chip for each field, those after `most` behind a button. @param {HTMLElement} node @param {Record<string, unknown>} metadata @param {number} most */
export function drawChips(node, metadata, most) {
  const fields = Object.entries(metadata).filter(([, value]) => value !== null && value !== "");
  node.replaceChildren(...fields.slice(0, most).map(chip));
  if (fields.length <= most) return;
  const words = `${fields.length - most} more`;
  const more = make("button", { type: "button", className: "cd-more-chips", dataset: { do: "more-chips" } }, words);
  more.addEventListener("click", () => drawChips(node, metadata, fields.length));
  node.append(more);
}
