// Documents that are nearly the same as one that is judged: said under the title, one key away.

/** @import { Item, Unit } from "../core/types.js" */
/** @import { Part, Reaction } from "./types.js" */
/** @import { View } from "./view.js" */

import { pairId } from "../core/kinds/grade.js";
import { lookBack, standingOf, wordsOf } from "./grades.js";
import { cut } from "./nodes.js";

/** Documents of one question. */
const MOST = 50;

/** Ms until the next question while the server has not compared all. */
const AGAIN = 3_000;

/** @typedef {import("../wire.d.ts").NearDuplicate} NearDuplicate */

/** @implements {Part} */
export class NearDuplicates {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** What was answered, by pair. @type {Map<string, NearDuplicate[]>} */
    this.known = new Map();
    /** Pairs that the server had not compared with all others, and whether it is time to ask again. @type {Set<string>} */
    this.part = new Set();
    this.due = false;
    this.asking = false;
    /** Those that were asked about. @type {Unit[]} */
    this.units = [];
    /** The near-duplicate that is shown, and the earlier judgement that it was opened from. @type {{ to: string, from: string | null } | null} */
    this.trip = null;
    this.actions = {
      near: {
        run: () => this.show(),
        when: () => this.isShown || this.of(view.item) !== null,
        refusal: "No judged near-duplicate of this document is known.",
      },
    };
  }

  /** Held documents to ask about. */
  newOnes() {
    return this.view.state.units.filter(
      ({ id, documents: [doc] }) => doc?.text && (!this.known.has(id) || (this.due && this.part.has(id))),
    );
  }

  /** Asks in an idle moment. */
  askSoon() {
    const { card, data } = this.view;
    const { units } = card.state;
    if (data.card.near === false || this.asking || (this.units === units && !this.due)) return;
    this.units = units;
    if (!this.newOnes().length) return;
    this.asking = true;
    const idle = window.requestIdleCallback ?? ((/** @type {() => void} */ run) => setTimeout(run, 200)); // Safari has none
    idle(() => this.ask(), { timeout: 2_000 });
  }

  async ask() {
    const { card } = this.view;
    const { units, outbox, scope } = card.state;
    const asked = this.newOnes().slice(0, MOST);
    this.due = false;
    // Also those that the server may not know as judged yet: held documents and unsent judgements.
    const unsent = outbox.filter(({ decision }) => decision.query_id === scope.topic);
    const ids = [
      ...[...asked, ...units].map(({ documents: [doc] }) => doc?.doc_id),
      ...unsent.map(({ decision }) => decision.doc_id),
    ];
    const doc_ids = [...new Set(ids)].slice(0, MOST);
    try {
      const { near, more } = await card.post("near", { query_id: scope.topic, doc_ids });
      for (const { id } of asked) {
        this.known.set(id, []);
        this.part[more ? "add" : "delete"](id);
      }
      for (const [docId, alike] of Object.entries(near)) this.known.set(pairId(scope.topic, docId), alike);
      if (more) setTimeout(() => this.askAgain(), AGAIN);
    } catch {
      // With the next documents it is tried again.
    }
    this.asking = false;
    this.view.render();
  }

  askAgain() {
    this.due = true;
    this.askSoon();
  }

  /** The most similar judged document, with its judgement. @param {Item | null} item */
  of(item) {
    for (const alike of this.known.get(item?.subject ?? "") ?? []) {
      const said = standingOf(this.view, pairId(item?.unit.queryId ?? "", alike.doc_id), alike.said);
      if (said) return { ...alike, said };
    }
    return null;
  }

  /** Whether the document on screen was opened as a near-duplicate. */
  get isShown() {
    const { item } = this.view;
    return this.trip !== null && item?.entry !== null && item?.subject === this.trip.to;
  }

  /** Opens the near-duplicate, or returns from it. */
  show() {
    const { item } = this.view;
    const alike = this.of(item);
    if (this.isShown) this.leave();
    else if (item && alike) {
      const { queryId } = item.unit;
      this.trip = { to: pairId(queryId, alike.doc_id), from: item.entry && item.subject };
      lookBack(this.view, { query_id: queryId, ...alike, ...alike.said });
    }
  }

  leave() {
    const { card, state } = this.view;
    const entry = state.history.find(({ decision }) => card.kind.subject(decision) === this.trip?.from);
    this.trip = null;
    if (entry) card.dispatch({ type: "open", decision: entry.decision, title: entry.title });
    else card.dispatch({ type: "look", step: state.history.length - (state.look ?? 0) });
  }

  /** @returns {Reaction} */
  stepBack() {
    return this.isShown ? () => this.leave() : null;
  }

  /** @param {Item | null} item @param {boolean} turned */
  render(item, turned) {
    const { view } = this;
    if (turned && !this.isShown) this.trip = null;
    const back = this.isShown;
    const alike = back ? null : this.of(item);
    view.setHidden("near", !alike && !back);
    if (alike) {
      view.setText("nearWords", alike.similarity >= 1 ? "Same text as " : "Near-duplicate of ");
      view.setText("nearTitle", cut(alike.title || alike.doc_id, 120));
      view.setText("nearSaid", `, which you judged ${wordsOf(view, alike.said)}.`);
    } else if (back) {
      view.setText("nearWords", "This is the near-duplicate.");
      for (const name of ["nearTitle", "nearSaid"]) view.setText(name, "");
    }
    if (alike || back) view.setText("nearShow", back ? "Back" : "Show");
  }

  rendered() {
    this.askSoon();
  }
}
