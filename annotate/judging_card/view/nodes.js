// Small things that drawing is made of.

/** Text without the signs that turn all that follows round; one of no width for each, so that places stay. @param {string} text */
export const forward = (text) => text.replace(/[\u202D\u202E]/g, "\u2060");

/** @param {HTMLElement} node @param {boolean} hidden */
export function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

/** @param {string} text @param {number} length */
export const cut = (text, length) => (text.length > length ? `${text.slice(0, length)} …` : text);

/**
 * A new element with these properties.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

/**
 * A button with a key cap and words; the whole sentence as tooltip and for screen readers.
 *
 * @param {string} cap
 * @param {string} words
 * @param {string} sentence
 * @param {Record<string, string>} data
 */
export function labelled(cap, words, sentence, data) {
  const button = make("button", { type: "button", title: sentence });
  button.setAttribute("aria-label", sentence);
  Object.assign(button.dataset, data);
  button.append(make("kbd", { textContent: cap }), make("span", { className: "cd-apart", textContent: words }));
  return button;
}

/**
 * A small button with a `data-do`.
 *
 * @param {string} words
 * @param {string} action
 * @param {Record<string, string>} data
 */
export function smallButton(words, action, data = {}) {
  const button = make("button", { type: "button", className: "cd-small", textContent: words });
  Object.assign(button.dataset, { do: action, ...data });
  return button;
}

/** A text of a campaign, whose writing direction is kept apart. @param {"span" | "b" | "p" | "q" | "div" | "bdi" | "dd"} tag @param {string} text @param {string} className */
export const apart = (tag, text, className = "") =>
  make(tag, { className: `cd-apart ${className}`.trim(), dir: "auto", textContent: forward(text) });
