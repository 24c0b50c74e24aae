/**
 * Mounting: one card for each campaign, annotator and task, and the listeners that every card has.
 *
 * The host page may mount again at any time (Streamlit does at every rerun, without calling the former clean-up):
 * listeners are then replaced and the card is kept. It also outlives visits to other pages.
 */

/** @import { CardData, Face, On } from "../types.js" */
/** A card's node, which keeps its view. @typedef {HTMLElement & { cleverdon?: View }} Root */

import { inWords } from "../../core/words.js";
import { Card } from "../../shell/card.js";
import { closeLostDialogs } from "./lost_dialog.js";
import { View } from "./view.js";

/** On window: ends the listeners that another copy of this module left. */
const SLOT = Symbol.for("cleverdon.judging.card");

/** @type {Map<string, Card>} */
const cards = new Map();

/** @param {Face} face @returns {(component: { data: CardData, parentElement: Element | ShadowRoot }) => () => void} */
export function mountable(face) {
  return ({ data, parentElement }) => {
    const slots = /** @type {Record<symbol, (() => void) | undefined>} */ (/** @type {unknown} */ (window));
    slots[SLOT]?.();
    const card = cardFor(face, data);
    const root = /** @type {Root} */ (parentElement.querySelector("[data-part=card]"));
    let view = root.cleverdon;
    const fresh = view?.card !== card;
    if (!view || fresh) view = new View(face, card, root);
    root.cleverdon = view;
    const leave = attach(view);
    slots[SLOT] = leave;
    const { filter, questions = [], task } = data;
    const requested = face.requested(view, data, fresh);
    card.dispatch({ type: "mount", fresh, requested, filter, questions, follows: task !== undefined });
    return leave;
  };
}

/** @param {Face} face @param {CardData} data */
function cardFor(face, data) {
  const place = `cleverdon:${encodeURIComponent(data.campaign)}:${encodeURIComponent(data.annotator)}:${face.place}`;
  const card = cards.get(place) ?? new Card(face.kind, data, place);
  cards.set(place, card);
  const isNew = card.network.token !== data.token;
  card.data = data;
  card.words = inWords(data.words);
  card.network.address = data.routes;
  card.network.token = data.token;
  if (isNew && [401, 403].includes(card.state.sync.trouble ?? 0)) card.dispatch({ type: "wake" });
  return card;
}

/**
 * Listens for what every card reacts to. Gives what ends it, which works once: it may be called again late.
 *
 * @param {View} view
 */
function attach(view) {
  const { card } = view;
  const controller = new AbortController();
  const { signal } = controller;
  /** @type {On} */
  const on = (target, type, react, options) =>
    target.addEventListener(type, /** @type {EventListener} */ (react), { ...options, signal });
  view.isLeft = false;
  card.draw = () => view.render();
  card.arrangement.changed = () => {
    view.keys.map();
    view.render();
  };
  for (const type of ["pointermove", "pointerdown", "wheel", "keydown", "click", "scroll"])
    on(window, type, () => card.clock?.move(), { passive: true, capture: true });
  on(window, "resize", () => fit(view));
  on(window, "online", () => card.dispatch({ type: "wake" }));
  on(window, "pagehide", () => card.dispatch({ type: "leave" }));
  on(window, "beforeunload", (event) => {
    if (card.state.outbox.length && card.state.sync.failures) event.preventDefault();
  });
  on(document, "visibilitychange", () => {
    card.dispatch({ type: "visible", visible: document.visibilityState === "visible" });
  });
  closeLostDialogs(view.root, signal);
  const cleanups = view.parts.map((part) => part.attach?.(on));
  const settling = [0, 250, 1000].map((delay) => setTimeout(() => fit(view), delay)); // the page moves while it loads
  fit(view);
  return () => {
    if (signal.aborted) return;
    controller.abort();
    settling.forEach(clearTimeout);
    for (const clean of cleanups) clean?.();
    view.isLeft = true;
    card.draw = undefined;
    card.dispatch({ type: "unmount" });
  };
}

/** Fills the height that is there, so that the buttons are in sight and only the document scrolls. @param {View} view */
function fit({ nodes: { frame } }) {
  if (!frame) return;
  let top = frame.getBoundingClientRect().top + window.scrollY;
  /** @type {Node | null} */
  let node = frame;
  while (node) {
    if (node instanceof Element && node !== document.documentElement && node !== document.body) top += node.scrollTop;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  const height = Math.max(320, Math.floor(window.innerHeight - top - 12));
  frame.style.setProperty("--cd-height", `${height}px`);
}
