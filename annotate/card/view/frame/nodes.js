// Helpers for drawing nodes.

/** Text without the signs that turn all that follows round; one of no width for each, so that places stay. @param {string} text */
export const forward = (text) => text.replace(/[\u202D\u202E]/g, "\u2060");

/** Puts a text into a node; browsers lay out a text node with other letters sooner than a new one. @param {HTMLElement} node @param {string} text */
export function setWords(node, text) {
  const { firstChild: first, lastChild: last } = node;
  if (first instanceof Text && first === last) first.data = forward(text);
  else node.textContent = forward(text);
}

/** Shows the node `…Ahead`, in which the next text is laid out, in place of the node on screen. @param {Record<string, HTMLElement | undefined>} nodes @param {string} name */
export function showAhead(nodes, name) {
  const [shown, ahead] = [nodes[name], nodes[`${name}Ahead`]];
  if (!shown || !ahead) return;
  shown.parentElement?.classList.add("cd-ahead");
  ahead.parentElement?.classList.remove("cd-ahead");
  [shown.dataset.part, ahead.dataset.part] = [ahead.dataset.part, shown.dataset.part];
  Object.assign(nodes, { [name]: ahead, [`${name}Ahead`]: shown });
}

/** @param {HTMLElement} node @param {boolean} hidden */
export function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

/** @param {HTMLElement} node @param {boolean} isPressed */
export function setPressed(node, isPressed) {
  if (node.ariaPressed !== String(isPressed)) node.ariaPressed = String(isPressed);
}

/** @param {string} text @param {number} length */
export const cut = (text, length) => (text.length > length ? `${text.slice(0, length)} …` : text);

/** Whether an id was made of the words of a record that had none, by `collection.formats.references`. @param {string} docId */
export const isMadeId = (docId) => /^r[0-9a-f]{12}$/.test(docId);

/** The code of a language that a document or topic says it is in, such as "en" or "pt-BR"; "" for anything else. @param {unknown} said */
export const languageOf = (said) =>
  typeof said === "string" && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(said) ? said : "";

/** Properties that browsers show or read aloud as text. */
const SPOKEN = /** @type {const} */ (["title", "ariaLabel", "alt"]);

/**
 * A new element with these properties and children; no tooltip and no name of it overrides the direction of writing, and
 * no browser translates a text of a campaign.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Omit<Partial<HTMLElementTagNameMap[Tag]>, "dataset"> & { dataset?: Record<string, string> }} [properties]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties, ...children) {
  const { dataset, ...others } = { dataset: {}, ...properties };
  const node = Object.assign(document.createElement(tag), others);
  for (const name of SPOKEN) {
    const text = Reflect.get(others, name);
    if (typeof text === "string") Reflect.set(node, name, forward(text));
  }
  if (node.classList.contains("cd-apart")) node.translate = false;
  Object.assign(node.dataset, dataset);
  node.append(...children);
  return node;
}

/** A text of a campaign, whose writing direction is kept apart. @param {"span" | "b" | "p" | "q" | "div" | "bdi" | "dd"} tag @param {string} text @param {string} className */
export const apart = (tag, text, className = "") =>
  make(tag, { className: `cd-apart ${className}`.trim(), dir: "auto", textContent: forward(text) });

/** A small button with a `data-do`. @param {string} words @param {string} action @param {Record<string, string>} data */
export const smallButton = (words, action, data = {}) =>
  make("button", { type: "button", className: "cd-small", dataset: { do: action, ...data } }, words);

/**
 * A button with a key cap and words; the whole sentence as tooltip and for screen readers.
 *
 * @param {string} cap @param {string} words @param {string} sentence @param {Record<string, string>} dataset
 */
export const labelled = (cap, words, sentence, dataset) =>
  make(
    "button",
    { type: "button", title: sentence, ariaLabel: sentence, dataset },
    make("kbd", {}, cap),
    make("span", { className: "cd-apart" }, words),
  );
