// The panel that explains why the document on screen was proposed.

/** @import { Part, Unit, View } from "../types.js" */

import { ONE_MOMENT } from "../frame/bar.js";
import { apart, make } from "../frame/nodes.js";

/** Terms shown of one document. */
const TERMS = 12;

/** Ms: fast keys pass documents by, and only one that stays is asked about. */
const SETTLE = 200;

/** Ms until the next question while the first model is made. */
const STILL_LEARNING = 1_500;

/** @typedef {[term: string, share: number]} Term its share is from -1 to 1 */

/** @param {View} view @returns {Part} */
export function why(view) {
  /** The unit that the open panel is about: null for none, undefined while it is closed. @type {string | null | undefined} */
  let shown;
  let timer = 0;

  function follow() {
    const { unit } = view.item ?? {};
    const former = shown;
    if (former === (unit?.id ?? null)) return;
    clearTimeout(timer);
    shown = unit?.id ?? null;
    draw(unit ? ONE_MOMENT : view.words("There is no document on screen."));
    if (unit) timer = window.setTimeout(() => ask(unit), former === undefined ? 0 : SETTLE);
  }

  /** @param {Unit} unit */
  async function ask(unit) {
    const { id, queryId, documents, taken } = unit;
    const { answer, cause } = await view.ask("why", { query_id: queryId, doc_id: documents[0]?.doc_id });
    if (shown !== id) return; // another document is on screen by now, or the panel is closed
    const { sentence, terms = [], behind } = answer ?? { sentence: `The reason could not be loaded: ${cause}.` };
    // The server's sentence about a pool or a start does not apply to a document found by searching.
    const own = taken && !terms.length ? "" : sentence;
    draw(taken ? `You found it by searching. ${own}`.trim() : own, terms);
    if (behind) timer = window.setTimeout(() => ask(unit), STILL_LEARNING);
  }

  /** @param {string} sentence @param {Term[]} terms */
  function draw(sentence, terms = []) {
    const strongest = terms.slice(0, TERMS).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    view.setText("whySentence", view.words(sentence));
    view.setHidden("whyScale", !strongest.length);
    view.root.classList.toggle("cd-with-terms", strongest.length > 0);
    for (const [side, sign] of Object.entries({ whyFor: 1, whyAgainst: -1 })) {
      const rows = strongest.filter(([, share]) => share * sign > 0).map(termRow);
      view.setHidden(`${side}Block`, !rows.length);
      view.node(side).replaceChildren(...rows);
    }
  }

  return {
    panels: {
      why: {
        beside: true,
        render: follow,
        left() {
          clearTimeout(timer);
          shown = undefined;
        },
      },
    },
  };
}

/** A term, and how much it contributed as a bar. @param {Term} term */
function termRow([term, share]) {
  const size = Math.min(1, Math.abs(share)) * 100;
  const filled = make("i");
  filled.style.width = `${Math.max(2, size)}%`;
  const bar = make("i", { className: "cd-weight", role: "img", ariaLabel: `${Math.round(size)}%` }, filled);
  const letters = term.replace(/^chars:/, "letters "); // a piece of a word: the model reads those as well
  const name = apart("span", letters.slice(0, 100), letters === term ? "cd-term" : "cd-letters");
  return make("li", { className: share > 0 ? "cd-for" : "cd-against" }, name, bar);
}
