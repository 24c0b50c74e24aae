// Why a document came up, in a panel that follows what is on screen.

/** @import { Unit } from "../core/types.js" */
/** @import { Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { causeOf } from "../shell/network.js";
import { ONE_MOMENT } from "./bar.js";
import { apart, make } from "./nodes.js";

/** Terms shown of one document. */
const TERMS = 12;

/** Ms: fast keys pass documents by, and only one that stays is asked about. */
const SETTLE = 200;

/** Ms until the next question while the first model is made. */
const STILL_LEARNING = 1_500;

/** @typedef {{ sentence: string, terms: [term: string, share: number][], behind?: boolean }} Answer shares from -1 to 1 */

/** @implements {Part} */
export class Why {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** The unit that the open panel is about: null for none, undefined while it is closed. @type {string | null | undefined} */
    this.id = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.actions = { why: { run: () => view.togglePanel("why"), panel: "why" } };
    this.panels = {
      why: { node: "whyPanel", beside: true, render: () => this.follow(), left: () => this.stop(undefined) },
    };
  }

  /** @param {string | null | undefined} id */
  stop(id) {
    clearTimeout(this.timer);
    this.id = id;
  }

  follow() {
    const { unit = null } = this.view.item ?? {};
    const { id: former } = this;
    const id = unit?.id ?? null;
    if (former === id) return;
    this.stop(id);
    this.draw({ sentence: unit ? ONE_MOMENT : "There is no document on screen.", terms: [] });
    if (unit) this.timer = setTimeout(() => this.ask(unit), former === undefined ? 0 : SETTLE);
  }

  /** @param {Unit} unit */
  async ask(unit) {
    const { view } = this;
    const { id, queryId, documents, taken } = unit;
    /** @type {Answer} */
    let answer;
    try {
      answer = await view.card.post("why", { query_id: queryId, doc_id: documents[0]?.doc_id });
    } catch (error) {
      answer = { sentence: `The reason could not be loaded: ${causeOf(error)}.`, terms: [] };
    }
    if (this.id !== id) return; // another document is on screen by now, or the panel is closed
    const { terms, behind } = answer;
    // What the server says of a pool or a start is not why this one is here.
    const own = taken && !terms.length ? "" : answer.sentence;
    this.draw({ sentence: taken ? `You found it by searching. ${own}`.trim() : own, terms });
    if (behind) this.timer = setTimeout(() => this.ask(unit), STILL_LEARNING);
  }

  /** @param {Answer} answer */
  draw({ sentence, terms }) {
    const { view } = this;
    const shown = terms.slice(0, TERMS).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const sides = {
      whyFor: shown.filter(([, share]) => share > 0),
      whyAgainst: shown.filter(([, share]) => share < 0),
    };
    view.setText("whySentence", sentence);
    view.setHidden("whyScale", !shown.length);
    for (const [side, list] of Object.entries(sides)) {
      view.setHidden(`${side}Block`, !list.length);
      view.node(side).replaceChildren(...list.map(termRow));
    }
  }
}

/** A term, and how much it contributed as a bar. @param {[string, number]} term */
function termRow([term, share]) {
  const size = Math.min(1, Math.abs(share)) * 100;
  const row = make("li", { className: share > 0 ? "cd-for" : "cd-against" });
  const filled = make("i");
  filled.style.width = `${Math.max(2, size)}%`;
  const bar = make("i", { className: "cd-weight", role: "img", ariaLabel: `${Math.round(size)}%` });
  bar.append(filled);
  const letters = term.startsWith("chars:"); // a piece of a word: the model reads those as well
  const name = letters ? `letters ${term.slice("chars:".length)}` : term;
  row.append(apart("span", name.slice(0, 100), letters ? "cd-letters" : "cd-term"), bar);
  return row;
}
