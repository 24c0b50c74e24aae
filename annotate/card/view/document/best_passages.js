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

  /**
   * With the sentence before it in sight; a passage that is in sight where the document is scrolled to, stays there.
   *
   * @param {number} from where it is scrolled to
   */
  function bringIntoSight(from) {
    const place = places[at];
    const [range] = place ? rangesOf(drawn.segments, place) : [];
    const sight = scroller.getBoundingClientRect();
    const box = range && liveRange(range).getBoundingClientRect();
    const line = view.node("bestLine").offsetHeight;
    const top = box ? box.top - sight.top + scroller.scrollTop : 0;
    const isInSight = !box || (top >= from + line && top + box.height <= from + sight.height);
    const target = isInSight ? from : top - Math.max(line + 8, sight.height / 5);
    if (scroller.scrollTop !== target) scroller.scrollTop = target;
  }

  function next() {
    at = (at + 1) % places.length;
    view.render();
    bringIntoSight(scroller.scrollTop);
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
        requestAnimationFrame(() => bringIntoSight(0)); // the text is drawn by then, and not painted yet
      }
      const place = places[at];
      paint("cd-best", place ? [place, drawn.segments] : [], () => (place ? rangesOf(drawn.segments, place) : []));
      view.setHidden("bestLine", !place);
      view.setText("bestWords", place ? `Passage ${figure(at + 1)} of ${figure(places.length)}` : "");
    },
  };
}
