// How a document is drawn: its text in one of three forms, what is known of it, its pictures. Part of every card.
//
// A sheet is a node with a text in it. The text may stand there whole or in passages with gaps between them, as it is or
// as markup, so what else is done with it (highlights, search, marks) goes by its segments and never by its nodes.

/**
 * @typedef {{start: number, from: ?number, text: string, root: Node, nodes: ?Node[], starts: ?number[]}} Segment a stretch of the text
 *            that is drawn: `start` is its place in the whole text in code points, `from` in the text that is here in UTF-16
 *            units, null where that does not reach so far; `nodes` and `starts` are its text nodes, once they are asked for
 * @typedef {{node: HTMLElement, segments: Segment[], version: number, drawn: ?Object}} Sheet `version` grows with each drawing
 */

const newSheet = (node) => ({ node, segments: [], version: 0, drawn: null });

const SURROGATES = /[\ud800-\udfff]/;

/** Code points of the first `units` UTF-16 units. */
function pointsIn(text, units) {
  const part = text.slice(0, units);
  if (!SURROGATES.test(part)) return part.length;
  let points = 0;
  for (const _ of part) points += 1;
  return points;
}

/** UTF-16 units of the first `points` code points. */
function unitsIn(text, points) {
  if (!SURROGATES.test(text)) return Math.min(points, text.length);
  let units = 0;
  for (let left = points; left > 0 && units < text.length; left -= 1) units += text.codePointAt(units) > 0xffff ? 2 : 1;
  return units;
}

/** Draws the text of a document, whole or folded to its passages and what was opened between them; true where it is new. */
function drawText(sheet, doc, opened = null) {
  const text = doc.text ?? "";
  const folded = opened !== null && doc.excerpts?.length > 0;
  // Markup is drawn whole only: a stretch of it is plain text.
  const html = doc.form === "markup" && !folded && !doc.truncated && typeof doc.html === "string" ? doc.html : null;
  const form = html !== null ? "markup" : doc.form === "preformatted" ? "preformatted" : "text";
  const { drawn, node } = sheet;
  if (drawn && drawn.text === text && drawn.html === html && drawn.form === form
    && (folded ? drawn.opened === opened && drawn.excerpts === doc.excerpts : drawn.opened === null)) return false;
  sheet.drawn = { text, html, form, opened: folded ? opened : null, excerpts: doc.excerpts };
  sheet.version += 1;
  if (drawn?.form !== form) setForm(node, form);
  if (folded) {
    drawPieces(sheet, doc, piecesOf(doc, opened));
  } else if (html !== null) {
    node.innerHTML = html; // made safe by the server; besides the guidelines the one place where markup comes in
    if (/[\u202D\u202E]/.test(text)) for (const each of textNodes(node)) each.data = forward(each.data);
    sheet.segments = [{ start: 0, from: 0, text, root: node }];
  } else {
    node.textContent = forward(text);
    sheet.segments = [{ start: 0, from: 0, text, root: node }];
  }
  return true;
}

function setForm(node, form) {
  node.dataset.form = form;
  // Lines that are kept may be longer than their place, which then scrolls sideways: by Shift and the arrows, or in the box.
  if (form === "preformatted") {
    Object.assign(node, { tabIndex: 0 });
    node.setAttribute("role", "group");
    node.setAttribute("aria-label", "Preformatted text");
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) node.removeAttribute(name);
  }
}

// ------------------------------------------------------------------------------------ passages and gaps

/** What is drawn of a folded text, in order: stretches with their text, and gaps without. Places are code points. */
function piecesOf(doc, opened) {
  const text = doc.text ?? "";
  const here = doc.truncated ? pointsIn(text, text.length) : Infinity;
  const known = doc.excerpts.map(([start, end, words]) => ({ start, end, words }));
  for (const [start, end] of opened) if (end <= here) known.push({ start, end });
  const pieces = [];
  let at = 0;
  for (const { start, end, words } of known.sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (end <= at) continue;
    if (start > at) pieces.push({ start: at, end: start, gap: true });
    const begin = Math.max(start, at);
    if (end <= here) {
      const from = unitsIn(text, begin);
      const last = pieces.at(-1);
      if (last?.end === begin && last.from !== undefined && last.from !== null) { // they touch: one stretch
        Object.assign(last, { end, text: text.slice(last.from, unitsIn(text, end)) });
      } else pieces.push({ start: begin, end, from, text: text.slice(from, unitsIn(text, end)) });
    } else pieces.push({ start: begin, end, from: null, text: words.slice(unitsIn(words, begin - start)) });
    at = end;
  }
  if (at < doc.length) pieces.push({ start: at, end: doc.length, gap: true });
  return pieces;
}

function drawPieces(sheet, doc, pieces) {
  sheet.segments = [];
  sheet.node.replaceChildren(...pieces.map(({ start, end, from, text, gap }) => {
    if (gap) return gapButton(start, end);
    const root = make("div", { className: "cd-piece", dir: "auto", textContent: forward(text) });
    sheet.segments.push({ start, from, text, root });
    return root;
  }));
}

function gapButton(start, end) {
  const button = make("button", { type: "button", className: "cd-gap" });
  Object.assign(button.dataset, { do: "open-gap", start, end });
  button.append(make("span", { textContent: `Show ${count(end - start, "hidden character")}` }));
  return button;
}

// ------------------------------------------------------------------------------------- places and ranges

function textNodes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

function nodesOf(segment) {
  if (!segment.nodes) {
    segment.nodes = textNodes(segment.root);
    let at = 0;
    segment.starts = segment.nodes.map((node) => (at += node.data.length) - node.data.length);
  }
  return segment.nodes;
}

/** The text node that a place of a segment is in, and the place in it; an end belongs to the node before it. */
function pointIn(segment, units, isEnd) {
  const nodes = nodesOf(segment);
  if (nodes.length === 1) return [nodes[0], Math.min(units, nodes[0].data.length)];
  const { starts } = segment;
  let low = 0;
  let high = nodes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] < units || (starts[middle] === units && !isEnd)) low = middle;
    else high = middle - 1;
  }
  return [nodes[low], Math.min(units - starts[low], nodes[low].data.length)];
}

/** A range over [begin, end) of a segment, in UTF-16 units: a light one to paint, or a live one to measure. */
function rangeOver(segment, begin, end, live = false) {
  if (!nodesOf(segment).length) return null;
  const [startContainer, startOffset] = pointIn(segment, begin, false);
  const [endContainer, endOffset] = pointIn(segment, end, true);
  if (!live) return new StaticRange({ startContainer, startOffset, endContainer, endOffset });
  const range = document.createRange();
  range.setStart(startContainer, startOffset);
  range.setEnd(endContainer, endOffset);
  return range;
}

/** The segments that [start, end) in code points touches, each with what it touches in its own units. */
function stretchesOf(sheet, start, end) {
  const found = [];
  for (const segment of sheet.segments) {
    const { text } = segment;
    if (segment.start >= end) break;
    const begin = unitsIn(text, Math.max(0, start - segment.start));
    const stop = unitsIn(text, end - segment.start);
    if (begin < stop) found.push({ segment, begin, end: stop });
  }
  return found;
}

/** The place of a boundary point in the sheet, in code points; one outside of its text is moved to the nearest of it. */
function placeOf(sheet, container, offset, isEnd) {
  const point = document.createRange();
  point.setStart(container, offset);
  let before = null;
  for (const segment of sheet.segments) {
    const nodes = nodesOf(segment);
    for (let i = 0; i < nodes.length; i += 1) {
      const node = nodes[i];
      if (node === container) return segment.start + pointsIn(segment.text, segment.starts[i] + offset);
      if (point.comparePoint(node, 0) > 0) return isEnd && before !== null ? before : segment.start + pointsIn(segment.text, segment.starts[i]);
      before = segment.start + pointsIn(segment.text, segment.starts[i] + node.data.length);
    }
  }
  return before ?? 0;
}

const GRAPHEMES = globalThis.Intl?.Segmenter ? new Intl.Segmenter(undefined, { granularity: "grapheme" }) : null;
const WINDOW = 500; // no sign that people read as one is longer

/** Where the grapheme around a place begins, or ends: the place itself between two of them. */
function edgeOf(text, units, isEnd) {
  if (!GRAPHEMES || units <= 0 || units >= text.length) return units;
  const from = Math.max(0, units - WINDOW);
  const { index, segment } = GRAPHEMES.segment(text.slice(from, units + WINDOW)).containing(units - from);
  return index + from === units ? units : from + index + (isEnd ? segment.length : 0);
}

/** A selection in a shadow root is told in three ways, by the browser. */
function selectedRange(root) {
  const selection = document.getSelection();
  if (!(root instanceof ShadowRoot)) return selection?.rangeCount ? selection.getRangeAt(0) : null;
  if (selection?.getComposedRanges) {
    try {
      return selection.getComposedRanges({ shadowRoots: [root] })[0] ?? null;
    } catch {
      return selection.getComposedRanges(root)[0] ?? null; // Safari's first form of it
    }
  }
  const own = root.getSelection?.() ?? selection;
  return own?.rangeCount ? own.getRangeAt(0) : null;
}

function wordsIn({ startContainer, startOffset, endContainer, endOffset }) {
  const live = document.createRange();
  live.setStart(startContainer, startOffset);
  live.setEnd(endContainer, endOffset);
  return live.toString();
}

/** Shift and an arrow: moves lines that are longer than their place. Where something is selected the browser extends that. */
function sideways(view, step) {
  const range = selectedRange(view.card.getRootNode());
  if (range && wordsIn(range).trim()) return null; // one round a field that was left has no words
  const wide = [...view.card.querySelectorAll("[data-form=preformatted], [data-form=markup] :is(pre, table)")]
    .filter((node) => node.scrollWidth > node.clientWidth);
  return wide.length ? () => wide.forEach((node) => node.scrollBy(step * node.clientWidth * 0.6, 0)) : null;
}

// --------------------------------------------------------------------------------------------- chips

const SHOWN_ADDRESS = 60;

/** An address of the web as a whole value; null for all else, and for what a browser would run. */
function addressOf(value) {
  if (typeof value !== "string" || !/^https?:\/\/\S+$/i.test(value)) return null;
  try {
    return new URL(value);
  } catch {
    return null;
  }
}

/** A link that leaves: nothing of this page goes along with it. */
function linkTo(url, words) {
  const short = words.replace(/^https?:\/\//i, "");
  const link = make("a", { href: url.href, target: "_blank", rel: "noopener noreferrer nofollow", referrerPolicy: "no-referrer" });
  link.textContent = forward(short.length > SHOWN_ADDRESS ? `${short.slice(0, SHOWN_ADDRESS)}…` : short);
  return link;
}

function wordsOf(value) {
  if (typeof value === "string") return value;
  const list = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
  return list ? value.join(", ") : JSON.stringify(value);
}

/** What is known of a document besides its text. The chips of the last one are used again; those after `most` are folded. */
function drawChips(node, metadata, most) {
  const entries = Object.entries(metadata ?? {}).filter(([, value]) => value !== null && value !== "");
  const shown = entries.length > most ? entries.slice(0, most) : entries;
  const chips = node.children;
  for (let i = 0; i < shown.length; i += 1) {
    if (!chips[i] || chips[i].tagName === "BUTTON") node.insertBefore(make("span", { className: "cd-chip cd-apart", dir: "auto" }), chips[i] ?? null);
    fillChip(chips[i], ...shown[i]);
  }
  let more = node.lastElementChild?.tagName === "BUTTON" ? node.lastElementChild : null;
  for (let i = shown.length; i < chips.length; i += 1) {
    if (chips[i] === more) continue;
    chips[i].hidden = true;
    if (chips[i].firstElementChild) chips[i].textContent = ""; // the last document's links do not stay behind
  }
  if (entries.length > shown.length && !more) {
    more = node.appendChild(make("button", { type: "button", className: "cd-more-chips" }));
    more.dataset.do = "more-chips";
  }
  if (!more) return;
  more.hidden = entries.length === shown.length;
  more.textContent = `${entries.length - shown.length} more`;
}

function fillChip(chip, key, value) {
  const url = addressOf(value);
  const words = `${key}: ${wordsOf(value)}`;
  chip.hidden = false;
  chip.title = words.slice(0, 1000);
  chip.textContent = forward(url ? `${key.slice(0, 100)}: ` : words.slice(0, 200)); // a line; the style sheet ends it with an ellipsis
  if (url) chip.append(linkTo(url, value));
}

/** Says in which language a document is, where it says so itself: browsers choose letters and line ends by it. */
function setLanguage(node, metadata) {
  const said = metadata?.lang ?? metadata?.language;
  const lang = typeof said === "string" && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(said) ? said : "";
  if (node.lang !== lang) node.lang = lang;
}

// -------------------------------------------------------------------------------------------- pictures

/** Addresses that a picture may have: the campaign's own files, and the web. */
function pictureAddress(src) {
  try {
    const url = new URL(src, location.href);
    return ["http:", "https:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

const isFile = (src) => pictureAddress(src)?.origin === location.origin;

function picture({ src, alt }) {
  const image = make("img", { alt: alt ?? "", referrerPolicy: "no-referrer", decoding: "async", draggable: false });
  image.addEventListener("error", () => image.replaceWith(broken(alt)), { once: true });
  image.src = pictureAddress(src)?.href ?? "";
  return image;
}

function broken(alt) {
  const words = make("span", { className: "cd-broken" });
  words.append(make("span", { textContent: "The picture could not be loaded." }));
  if (alt) words.append(make("span", { className: "cd-apart", dir: "auto", textContent: forward(alt) }));
  return words;
}

/** The pictures of a document, each in a button that shows it large. Nodes are new: an old one would show the last picture. */
function drawPictures(node, images) {
  const known = (images ?? []).filter(({ src }) => pictureAddress(src));
  setHidden(node, known.length === 0);
  if (!known.length && !node.childElementCount) return;
  node.replaceChildren(...known.map((image, i) => (image.link ? pictureLink(image) : pictureButton(image, i))));
}

function pictureButton(image, i) {
  const button = make("button", { type: "button", className: "cd-picture", title: image.alt || "Show large" });
  button.setAttribute("aria-label", `Show large: ${image.alt || `picture ${i + 1}`}`);
  Object.assign(button.dataset, { do: "enlarge", picture: i });
  button.append(picture(image));
  return button;
}

/** A picture elsewhere that the manager has not allowed to be loaded: who follows the link decides. */
function pictureLink({ src, alt }) {
  const line = make("p", { className: "cd-picture-link" });
  const url = pictureAddress(src);
  const link = linkTo(url, url.host);
  link.title = src.slice(0, 1000);
  line.append("Picture at ", link);
  if (alt) line.append(": ", make("span", { className: "cd-apart", dir: "auto", textContent: forward(cut(alt, 200)) }));
  return line;
}
