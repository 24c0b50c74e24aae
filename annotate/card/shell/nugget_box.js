// The annotator's nuggets at work: carries out the effects of `core/nuggets.js` with the card's storage and network.

/** @import { NuggetEffect, NuggetEvent, NuggetRequest } from "../core/nuggets.js" */
/** @import { Card } from "./card.js" */

import { DRAFT, initialNuggets, nuggetStep, REFUSED, WAITING } from "../core/nuggets.js";
import { Failure } from "./network.js";

/** It outlives views, like its card. @type {WeakMap<Card, NuggetBox>} */
const boxes = new WeakMap();

/** @param {Card} card */
export function nuggetBox(card) {
  const box = boxes.get(card) ?? new NuggetBox(card);
  boxes.set(card, box);
  return box;
}

export class NuggetBox {
  /** @param {Card} card */
  constructor(card) {
    this.card = card;
    const stored = (/** @type {string} */ start) => card.storage.all(start).map(([, value]) => value);
    this.state = initialNuggets(stored(WAITING), stored(REFUSED));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    if (this.state.outbox.length) this.dispatch({ type: "wake" });
  }

  /** @param {NuggetEvent} event */
  dispatch(event) {
    const { state, effects } = nuggetStep(this.state, event);
    this.state = state;
    for (const effect of effects) this.carryOut(effect);
    this.card.draw?.();
  }

  /** The nugget that was being written when the page was left; null for none. @returns {any} */
  get draft() {
    const draft = this.card.storage.read(DRAFT);
    return typeof draft?.queryId === "string" && typeof draft.written === "string" ? draft : null;
  }

  set draft(draft) {
    this.card.storage.write(DRAFT, draft);
  }

  /** @param {NuggetEffect} effect */
  carryOut(effect) {
    if (effect.type === "store") this.card.storage.write(effect.key, effect.value);
    else if (effect.type === "send") void this.send(effect.request);
    else {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.dispatch({ type: "wake" }), effect.ms);
    }
  }

  /** @param {NuggetRequest} request */
  async send(request) {
    const body = { query_id: request.queryId, edits: request.batch.map(({ edit }) => edit) };
    try {
      const answer = await this.card.network.post("nuggets", body);
      if (!Array.isArray(answer.nuggets)) throw new Failure(-1);
      this.dispatch({ type: "answer", request, answer });
    } catch (error) {
      const { status, detail } = error instanceof Failure ? error : new Failure(-1);
      this.dispatch({ type: "failure", request, status, detail });
    }
  }
}
