// Topics: the words of the one on screen, choosing another one, and how far one has come.

/** @import { Item, Topic, TopicWords } from "../core/types.js" */
/** @import { Action, On, Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { countOf, topicOf } from "../core/kinds/grade.js";
import { outstanding } from "../core/state.js";
import { cut, make } from "./nodes.js";
import { figure } from "./phrases.js";

/** Ms until progress is drawn after a key: the next document first. */
const AFTER_FRAMES = 30;

/** @param {{ query_id: string, title: string }} topic */
export const nameOfTopic = ({ title, query_id }) => title || query_id;

/** The topic on screen, among those of the annotator. @param {View} view */
export const shownTopic = ({ item, state: { scope } }) => topicOf(scope, item?.unit.queryId ?? scope.topic);

/** The title, description and narrative of a topic, which fold on a narrow screen. @implements {Part} */
export class TopicText {
  /** @param {View} view @param {(view: View) => Topic | TopicWords | null | undefined} topicOn the topic on screen */
  constructor(view, topicOn) {
    this.view = view;
    this.topicOn = topicOn;
    /** @type {Topic | TopicWords | null} */
    this.drawn = null;
    this.isScrolled = false;
    this.clicks = {
      fold: () => view.node("fold").setAttribute("aria-expanded", `${view.node("topic").classList.toggle("cd-open")}`),
    };
  }

  /** @param {On} on */
  attach(on) {
    on(this.view.node("need"), "scroll", () => (this.isScrolled = true), { passive: true });
    return undefined;
  }

  render() {
    const { view, drawn } = this;
    const topic = this.topicOn(view);
    if (!topic || topic === drawn) return;
    this.drawn = topic;
    const name = nameOfTopic(topic);
    view.setText("foldTitle", name);
    view.setText("topicTitle", name);
    view.setText("description", topic.description === name ? "" : topic.description);
    view.setText("narrative", topic.narrative);
    view.setHidden("narrativeBlock", !topic.narrative);
    if (this.isScrolled && topic.query_id !== drawn?.query_id) view.node("need").scrollTop = 0;
    this.isScrolled &&= topic.query_id === drawn?.query_id;
  }
}

/** @implements {Part} */
export class Topics {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** The topics as they are listed. @type {Topic[]} */
    this.listed = [];
    /** Topics with judgements that were not counted when they were listed. */
    this.touched = new Set();
    this.visit = 0;
    /** @type {Record<string, Action>} */
    this.actions = {
      "next-unfinished": { run: () => view.card.dispatch({ type: "next-topic" }), when: () => view.item === null },
    };
    this.clicks = {
      "previous-topic": () => this.step(-1),
      "next-topic": () => this.step(1),
      "go-topic": (/** @type {HTMLElement} */ { dataset }) => this.choose(dataset.query),
    };
  }

  get select() {
    return /** @type {HTMLSelectElement} */ (this.view.node("topics"));
  }

  /** @param {On} on */
  attach(on) {
    on(this.select, "change", () => {
      this.choose(this.select.value);
      this.view.letGo();
    });
    return undefined;
  }

  /** @param {string | undefined} queryId */
  choose(queryId) {
    if (queryId !== undefined) this.view.card.dispatch({ type: "topic", queryId, chosen: true });
  }

  /** @param {number} by */
  step(by) {
    this.choose(this.listed[this.select.selectedIndex + by]?.query_id);
  }

  /** @param {Item | null} item @param {boolean} turned */
  render(item, turned) {
    const { view } = this;
    const { scope } = view.state;
    const topic = shownTopic(view);
    const [rule = "", words = ""] = scope.inLoop && topic?.query_id === scope.topic ? scope.chooser : [];
    view.setHidden("chooser", !rule);
    view.setText("chooserRule", rule);
    view.setText("chooserState", words);
    if (!topic) return;
    if (turned && item && this.listed.length === scope.topics.length)
      setTimeout(() => view.isLeft || this.drawProgress(), AFTER_FRAMES);
    else this.drawProgress();
    view.setText("topicId", `Topic ${cut(topic.query_id, 60)}`);
    view.setHidden("topicId", !topic.title); // without a title the id stands in its place
    const at = scope.topics.indexOf(topic);
    if (this.select.selectedIndex !== at) this.select.selectedIndex = at;
    view.field("previousTopic").disabled = at === 0;
    view.field("nextTopic").disabled = at === scope.topics.length - 1;
  }

  /** A panel goes with the topic that it was opened in. */
  rendered() {
    const { view } = this;
    const { visit } = view.state.scope;
    if (this.visit === visit) return;
    this.visit = visit;
    if (view.panel) view.setPanel(null);
  }

  drawProgress() {
    const { view } = this;
    const topic = shownTopic(view);
    if (!topic) return;
    this.drawCount("topic", countOf(view.state, topic));
    this.drawCount("all", countOf(view.state, null));
    this.drawOptions();
  }

  /** @param {"topic" | "all"} name @param {{ judged: number, pool: number | null }} count */
  drawCount(name, { judged, pool }) {
    const { view } = this;
    view.setText(`${name}Count`, pool === null ? `${figure(judged)} judged` : `${figure(judged)} of ${figure(pool)}`);
    const bar = view.node(`${name}Bar`);
    if (bar.parentElement) bar.parentElement.hidden = pool === null;
    bar.style.transform = `scaleX(${pool ? judged / pool : 0})`;
  }

  /** Only topics whose counts may have changed are drawn again: there may be hundreds. */
  drawOptions() {
    const { select, listed, touched } = this;
    const { state } = this.view;
    this.touched = new Set(outstanding(state).map(({ decision }) => decision.query_id));
    this.listed = state.scope.topics;
    for (const [i, topic] of this.listed.entries()) {
      const { query_id } = topic;
      if (listed[i] === topic && !touched.has(query_id) && !this.touched.has(query_id)) continue;
      const option = select.options[i] ?? select.appendChild(make("option"));
      option.value = query_id;
      const text = optionText(topic, countOf(state, topic));
      if (option.textContent !== text) option.textContent = text;
    }
    select.length = this.listed.length;
  }
}

/**
 * An option is drawn by the browser, outside of the card's isolation: direction signs are left out there.
 *
 * @param {Topic} topic @param {{ judged: number, pool: number | null }} count
 */
function optionText(topic, { judged, pool }) {
  const count = pool === null ? figure(judged) : judged >= pool ? "✓" : `${judged}/${pool}`;
  const title = nameOfTopic(topic).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return `${title.length > 40 ? `${title.slice(0, 40)}…` : title} · ${count}`; // the title first: letters that are typed find it
}
