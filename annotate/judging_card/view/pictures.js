// The pictures of a document.

/** @import { Doc } from "../core/types.js" */
/** @typedef {Doc["images"][number]} Picture */

import { linkTo, webAddress } from "./chips.js";
import { apart, cut, make, setHidden } from "./nodes.js";

/** One of the campaign's own files, or of the web. @param {Picture} picture */
const addressOf = ({ src }) => webAddress(src, location.href);

/** Those that are shown; of the others there are links, since the manager has not allowed their hosts. @param {Doc} doc */
export const shownPictures = ({ images }) => images.filter((each) => !each.link && addressOf(each));

/** Fetches those that are files of the campaign. @param {Doc} doc */
export function fetchPictures(doc) {
  for (const each of shownPictures(doc)) if (addressOf(each)?.origin === location.origin) new Image().src = each.src;
}

/** @param {Picture} picture */
export function pictureNode(picture) {
  const { alt } = picture;
  const image = make("img", { alt, referrerPolicy: "no-referrer", decoding: "async", draggable: false });
  const broken = () => {
    const words = make("span", { className: "cd-broken" });
    words.append(make("span", { textContent: "The picture could not be loaded." }));
    if (alt) words.append(apart("span", alt));
    image.replaceWith(words);
  };
  image.addEventListener("error", broken, { once: true });
  image.src = addressOf(picture)?.href ?? "";
  return image;
}

/** Draws them, each in a button. Nodes are new: an old one would show the last picture. @param {HTMLElement} node @param {Doc} doc */
export function drawPictures(node, doc) {
  const shown = shownPictures(doc);
  const nodes = doc.images.flatMap(
    (each) => (shown.includes(each) ? pictureButton(each, shown.indexOf(each)) : each.link && pictureLink(each)) || [],
  );
  setHidden(node, !nodes.length);
  node.replaceChildren(...nodes);
}

/** @param {Picture} picture @param {number} i its place among those that are shown */
function pictureButton(picture, i) {
  const button = make("button", { type: "button", className: "cd-picture", title: picture.alt || "Show large" });
  button.setAttribute("aria-label", `Show large: ${picture.alt || `picture ${i + 1}`}`);
  Object.assign(button.dataset, { do: "enlarge", picture: i });
  button.append(pictureNode(picture));
  return button;
}

/** Who follows the link decides. @param {Picture} picture */
function pictureLink(picture) {
  const url = addressOf(picture);
  if (!url) return null;
  const line = make("p", { className: "cd-picture-link" });
  const link = linkTo(url, url.host);
  link.title = picture.src.slice(0, 1000);
  line.append("Picture at ", link);
  if (picture.alt) line.append(": ", apart("span", cut(picture.alt, 200)));
  return line;
}
