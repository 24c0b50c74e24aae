// The pictures of a document.

/** @import { Doc } from "../types.js" */
/** @typedef {Doc["images"][number]} Picture */

import { linkTo, webAddress } from "../frame/chips.js";
import { apart, cut, make, setHidden } from "../frame/nodes.js";

/** One of the campaign's own files, or of the web. @param {Picture} picture */
const addressOf = ({ src }) => webAddress(src, location.href);

/** Those that are shown; of the others there are links, since the manager has not allowed their hosts. @param {Doc} doc */
export const shownPictures = ({ images }) => images.filter((each) => !each.link && addressOf(each));

/** Fetches those that are files of the campaign. @param {Doc} doc */
export function fetchPictures(doc) {
  for (const each of shownPictures(doc)) if (addressOf(each)?.origin === location.origin) new Image().src = each.src;
}

/** @param {Picture} picture */
export function pictureNode({ src, alt }) {
  const image = make("img", { alt, referrerPolicy: "no-referrer", decoding: "async", draggable: false });
  const words = make("span", {}, "The picture could not be loaded.");
  const broken = make("span", { className: "cd-broken" }, words, ...(alt ? [apart("span", alt)] : []));
  image.addEventListener("error", () => image.replaceWith(broken), { once: true });
  image.src = src;
  return image;
}

/** Draws them, each in a button. Nodes are new: an old one would show the last picture. @param {HTMLElement} node @param {Doc} doc */
export function drawPictures(node, doc) {
  const shown = shownPictures(doc);
  const nodes = doc.images.flatMap((each) => (shown.includes(each) ? button(each, shown.indexOf(each)) : link(each)));
  setHidden(node, !nodes.length);
  if (nodes.length || node.firstChild) node.replaceChildren(...nodes);
}

/** @param {Picture} picture @param {number} i */
function button(picture, i) {
  const ariaLabel = `Show large: ${picture.alt || `picture ${i + 1}`}`;
  const dataset = { do: "enlarge", picture: String(i) };
  const title = picture.alt || "Show large";
  return make("button", { type: "button", className: "cd-picture", title, ariaLabel, dataset }, pictureNode(picture));
}

/** A link instead of a picture: the annotator decides whether to open it. @param {Picture} picture */
function link(picture) {
  const url = addressOf(picture);
  if (!url) return [];
  const node = linkTo(url, url.host);
  node.title = picture.src.slice(0, 1000);
  const alt = picture.alt ? [": ", apart("span", cut(picture.alt, 200))] : [];
  return make("p", { className: "cd-picture-link" }, "Picture at ", node, ...alt);
}
