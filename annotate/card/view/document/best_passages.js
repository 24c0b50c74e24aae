// The passages of a cited document that match the sentence best: the document opens at the first one.

/** @import { DrawnDocument, Part, Place, View } from "../types.js" */

import { figure } from "../frame/phrases.js";
import { paint } from "./highlights.js";
import { liveRange } from "./selection.js";
import { rangesOf } from "./text.js";

/** @type {Place[]} */
const NONE = [];

/** Highlights the current passage, brings it into sight, and goes on to the next best. @param {View} view @param {DrawnDocument} drawn @returns {Part} */
export function bestPassages(view, drawn) {
  const scroller = view.node("scroller");
  /** Best first. @type {Place[]} */
  let places = NONE;
  let at = 0;

  /** With the sentence before it in sight; a passage that is in sight already stays where it is. */
  function bringIntoSight() {
    const place = places[at];
    const [range] = place ? rangesOf(drawn.segments, place) : [];
    if (!range) return;
    const [box, sight] = [liveRange(range).getBoundingClientRect(), scroller.getBoundingClientRect()];
    const line = view.node("bestLine").getBoundingClientRect();
    const isInSight = box.top >= Math.min(line.bottom, sight.top + line.height) && box.bottom <= sight.bottom;
    if (!isInSight) scroller.scrollTop += box.top - sight.top - Math.max(line.height + 8, sight.height / 5);
  }

  function next() {
    at = (at + 1) % places.length;
    view.render();
    bringIntoSight();
  }

  return {
    actions: {
      passage: {
        run: next,
        when: () => places.length > 0,
        refusal: "No passage of this document matches the sentence better than the others.",
      },
    },
    render(item, turned) {
      places = item?.unit.documents[0]?.best ?? NONE;
      if (turned) {
        at = 0;
        requestAnimationFrame(bringIntoSight); // the text is drawn by then, and not painted yet
      }
      const place = places[at];
      paint("cd-best", place ? [place, drawn.segments] : [], () => (place ? rangesOf(drawn.segments, place) : []));
      view.setHidden("bestLine", !place);
      view.setText("bestWords", place ? `Passage ${figure(at + 1)} of ${figure(places.length)}` : "");
    },
  };
}
