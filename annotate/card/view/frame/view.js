/**
 * The card on the page: its nodes, its parts, the open panel, and the drawn state.
 *
 * A view lives as long as its nodes; reruns of the page find it again. Parts draw when `render` is called, after each step
 * of the machine and each change of the view's own state.
 */

/** @import { InWords } from "../../core/words.js" */
/** @import { Action, Answer, Card, CardData, Face, Nodes, Panel, Part, Source } from "../types.js" */

import { newTopicUnit, onScreen } from "../../core/state.js";
import { causeOf } from "../../shell/network.js";
import { Keys } from "./keys.js";
import { setHidden, setWords, showAhead } from "./nodes.js";

export class View {
  /** @param {Face} face @param {Card} card @param {HTMLElement} root the node with `data-part="card"` */
  constructor(face, card, root) {
    this.face = face;
    this.card = card;
    this.root = root;
    const frame = /** @type {HTMLElement} */ (root.closest("[data-part=frame]"));
    /** @type {Nodes} */
    this.nodes = { frame };
    for (const node of [frame, .../** @type {NodeListOf<HTMLElement>} */ (frame.querySelectorAll("[data-part]"))]) {
      this.nodes[(node.dataset.part ?? "").replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = node;
    }
    // What is judged is never translated by the browser.
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (
      frame.querySelectorAll(".cd-apart, .cd-document, .cd-text")
    ))
      node.translate = false;
    if (this.data.words) putIntoWords(frame, card.words);
    /** The texts of parts as they are drawn. @type {Record<string, string>} */
    this.texts = {};
    /** @type {string | null} */
    this.panel = null;
    /** The open panel at the last drawing. @type {string | null | undefined} */
    this.shownPanel = undefined;
    /** The element that had the focus before a panel opened. @type {HTMLElement | null} */
    this.cameFrom = null;
    /** The subject on screen at the last drawing. @type {string | null} */
    this.drawn = null;
    /** The cards on the page change with it: it draws no more once it was left. */
    this.isLeft = false;
    this.keys = new Keys(this);
    /** @type {Part[]} */
    this.parts = [...face.parts(this), this.keys];
    /** @type {Record<string, Panel>} */
    this.panels = Object.assign({}, ...this.parts.map((part) => part.panels ?? {}));
    /** @type {Map<string, Action>} */
    this.actions = new Map();
    // In the order of the list of keys.
    const actions = Object.assign({}, ...this.parts.map((part) => part.actions ?? {}));
    for (const name of Object.keys(this.data.keys.actions)) {
      const action = actions[name] ?? (this.panels[name] && this.opening(name));
      if (!action) throw new Error(`no part has the action ${name} of keys.json`);
      this.actions.set(name, action);
    }
    /** @type {NonNullable<Part["clicks"]>} */
    this.clicks = Object.assign({}, ...this.parts.map((part) => part.clicks ?? {}));
    this.keys.map();
  }

  /** Puts sentences of the card into the words of the campaign; also the tag of a template. */
  get words() {
    return this.card.words;
  }

  get state() {
    return this.card.state;
  }

  /** @returns {CardData} */
  get data() {
    return this.card.data;
  }

  /** The annotator's settings of the card. */
  get own() {
    return this.card.arrangement.own;
  }

  /** The item on screen, or null. */
  get item() {
    return onScreen(this.card.kind, this.state);
  }

  /** The first unit of a new topic, which waits for a key; null for none. */
  get waiting() {
    return newTopicUnit(this.card.kind, this.state);
  }

  /** @returns {Panel | null} */
  get openPanel() {
    return this.panel === null ? null : (this.panels[this.panel] ?? null);
  }

  /** The node of the open panel. */
  get panelNode() {
    return this.panel === null ? null : this.node(`${this.panel}Panel`);
  }

  /** The element that has the focus within the card's root. */
  get active() {
    const page = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    return /** @type {HTMLElement | null} */ (page.activeElement);
  }

  /** Brings the screen up to date. Everything is compared first, so calling it often costs nothing. */
  render() {
    if (this.isLeft) return;
    const { item } = this;
    const drawn = item?.drawn ?? null;
    const turned = drawn !== this.drawn;
    if (turned && this.openPanel?.isOfUnit) {
      const { openPanel } = this;
      this.panel = null;
      openPanel.left?.();
    }
    for (const part of this.parts) part.render?.(item, turned);
    this.drawn = drawn;
    const { openPanel, panel, shownPanel } = this;
    if (panel !== shownPanel) {
      this.root.dataset.panel = panel ?? "none";
      for (const name of Object.keys(this.panels)) this.setHidden(`${name}Panel`, panel !== name);
    }
    this.shownPanel = panel;
    openPanel?.render?.();
    for (const part of this.parts) part.rendered?.(item, turned);
  }

  /** A node of the card. @param {string} name @returns {HTMLElement} */
  node(name) {
    const node = this.nodes[name];
    if (!node) throw new Error(`the card has no part ${name}`);
    return node;
  }

  /** An input of the card. @param {string} name */
  field(name) {
    return /** @type {HTMLInputElement} */ (this.node(name));
  }

  /** Sets the text of a part; shows its part `…Ahead` instead if that has the text already. @param {string} name @param {string} text */
  setText(name, text) {
    const { [name]: former, [`${name}Ahead`]: ahead } = this.texts;
    if (former === text) return;
    this.texts[name] = text;
    if (ahead === text) {
      this.texts[`${name}Ahead`] = former ?? "";
      showAhead(this.nodes, name);
      return;
    }
    setWords(this.node(name), text);
  }

  /** @param {string} name @param {boolean} hidden */
  setHidden(name, hidden) {
    setHidden(this.node(name), hidden);
  }

  /** A text in a node, or in a block, that is there only with it. @param {string} name @param {string} text */
  setLine(name, text, block = name) {
    this.setText(name, text);
    this.setHidden(block, !text);
  }

  /** @param {Answer} answer @param {Source} source */
  decide(answer, source) {
    this.card.dispatch({ type: "decide", answer, ...this.card.by(source) });
  }

  /** Begins the new topic that is shown. */
  begin() {
    this.card.dispatch({ type: "enter" });
  }

  /** Answers a key that cannot do anything now. @param {string} code */
  reply(code = "nothing-here") {
    this.card.dispatch({ type: "notice", notice: { code, urgent: true } });
  }

  /** An answer of a route, or why there is none. @param {string} route @param {object} body @returns {Promise<{ answer?: any, cause?: string }>} */
  async ask(route, body) {
    try {
      return { answer: await this.card.network.post(route, body) };
    } catch (error) {
      return { cause: causeOf(error) };
    }
  }

  /** Opens a panel; null closes the open one. @param {string | null} name */
  setPanel(name) {
    const former = this.openPanel;
    if (name && !former) this.cameFrom = this.focused();
    this.panel = name;
    if (former && former !== this.openPanel) former.left?.();
    this.render();
    if (name) this.focusPanel();
    else this.giveBack();
  }

  /** Opens a panel, or closes it; one whose field has the focus first takes it again. @param {string} name @returns {Action} */
  opening(name) {
    const { anywhere = false, field, focus, open = () => this.setPanel(name) } = this.panels[name] ?? {};
    const leave = () => (field && field === focus ? this.node(field).focus() : this.setPanel(null));
    return { run: () => (this.panel === name ? leave() : open()), panel: name, anywhere };
  }

  focusPanel() {
    const { openPanel, panelNode } = this;
    if (!panelNode) return;
    const focus = openPanel?.focus ? this.node(openPanel.focus) : panelNode;
    (focus.hidden ? panelNode : focus).focus({ preventScroll: true });
  }

  /** The focused element of the card, which gets the focus again when a panel is closed. */
  focused() {
    const { active, root } = this;
    return active && active !== root && root.contains(active) && !active.closest("[role=dialog]") ? active : null;
  }

  /** After a panel the focus is where it was before, else at the card's start: never lost. */
  giveBack() {
    const node = this.cameFrom;
    this.cameFrom = null;
    this.letGo();
    if (node?.isConnected && node.offsetParent !== null) node.focus({ preventScroll: true });
    else this.root.focus({ preventScroll: true });
  }

  letGo() {
    this.active?.blur();
  }
}

/** Puts the card's HTML into the words of the campaign, once, before texts of users are drawn in it. @param {HTMLElement} frame @param {InWords} words */
function putIntoWords(frame, words) {
  if (frame.dataset.worded) return;
  frame.dataset.worded = "true"; // style sheets look for it
  const walker = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    const text = words(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const name of ["title", "aria-label", "placeholder"])
    for (const node of frame.querySelectorAll(`[${name}]`))
      node.setAttribute(name, words(node.getAttribute(name) ?? ""));
}
