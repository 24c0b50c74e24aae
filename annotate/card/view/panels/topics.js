// Topics: the words of the one on screen, choosing another one, and how far one has come.

/** @import { Part, Topic, TopicWords, View } from "../types.js" */

import { countOf, topicOf } from "../../core/kinds/counts.js";
import { outstanding } from "../../core/state.js";
import { sentence } from "../frame/bar.js";
import { cut, languageOf, make } from "../frame/nodes.js";
import { figure } from "../frame/phrases.js";
import { topicContext } from "./context.js";

/** Ms until progress is drawn after a key: the next document first. */
const AFTER_FRAMES = 30;

/** Fields that name the language of a topic, and the nodes of what is written in it. */
const LANGUAGES = new Set(["lang", "language"]);
const TEXTS = ["topicTitle", "topicTitleAhead", "description", "narrative", "turns", "earlierTurns"];
const NEW_TEXTS = [
  "newTopicTitle",
  "newTopicDescription",
  "newTopicNarrative",
  "newTopicTurns",
  "newTopicEarlierTurns",
];

/** @param {{ query_id: string, title: string }} topic */
export const nameOfTopic = ({ title, query_id }) => title || query_id;

/** The topic on screen, among those of the annotator. @param {View} view */
export const shownTopic = ({ item, state: { scope } }) => topicOf(scope, item?.unit.queryId ?? scope.topic);

/**
 * The title, description and narrative of a topic, which fold on a narrow screen; those of a topic that the annotator has
 * not asked for are shown alone, until a key begins it.
 *
 * @param {View} view @param {(view: View) => Topic | TopicWords | null | undefined} topicOn that of the open unit
 * @returns {Part}
 */
export function topicText(view, topicOn) {
  const need = view.node("need");
  const drawContext = topicContext(view, (name) => name);
  const drawNewContext = topicContext(view, (name) => `newTopic${name.charAt(0).toUpperCase()}${name.slice(1)}`);
  let isNew = false;
  /** @type {Topic | TopicWords | null} */
  let drawn = null;
  let isScrolled = false;
  /** @type {string | null} */
  let language = null;
  /** Browsers choose letters and line ends by the language. @param {Topic | TopicWords} topic */
  function setLanguage({ fields = [] }) {
    const said = fields.find(({ name }) => LANGUAGES.has(name.toLowerCase()));
    const lang = languageOf(said?.text.trim());
    if (lang === language) return;
    language = lang;
    for (const node of [...TEXTS, ...NEW_TEXTS].map((name) => view.node(name)))
      if (node.lang !== lang) node.lang = lang;
  }

  return {
    clicks: {
      begin: () => view.begin(),
      fold: () => (view.node("fold").ariaExpanded = String(view.node("topic").classList.toggle("cd-open"))),
    },
    attach: (on) => void on(need, "scroll", () => (isScrolled = true), { passive: true }),
    render() {
      const topic = topicOn(view);
      const wasNew = isNew;
      isNew = Boolean(view.waiting && topic);
      view.setHidden("newTopic", !isNew);
      if (!topic) return;
      const name = nameOfTopic(topic);
      const description = topic.description === name ? "" : topic.description;
      if (isNew) {
        view.setLine("newTopicWhy", sentence(view, view.state.scope.why ?? null).join(""));
        drawNewContext(topic);
        view.setText("newTopicTitle", name);
        view.setLine("newTopicDescription", description);
        view.setLine("newTopicNarrative", topic.narrative);
        view.setLine("newTopicNote", "note" in topic ? topic.note : "");
        if (!wasNew) view.letGo(); // a button that was pressed last would be pressed by Enter once more
      }
      if (topic === drawn) return;
      view.setHidden("fold", false);
      setLanguage(topic);
      drawContext(topic);
      view.setText("foldTitle", name);
      view.setText("topicTitle", name);
      view.setText("description", description);
      view.setLine("narrative", topic.narrative, "narrativeBlock");
      // The answer around a sentence is scrolled to the sentence.
      if (isScrolled && topic.query_id !== drawn?.query_id && !view.item?.unit.documents[0]?.answer) {
        need.scrollTop = 0;
        isScrolled = false;
      }
      drawn = topic;
    },
  };
}

/** Draws a count with its bar, which is not there without a goal. @param {View} view @param {"topic" | "all"} name @param {string} words @param {number} done @param {number | null} goal */
export function drawCount(view, name, words, done, goal) {
  if (view.texts[`${name}Count`] === words) return;
  view.setText(`${name}Count`, words);
  const bar = view.node(`${name}Bar`);
  if (bar.parentElement) bar.parentElement.hidden = goal === null;
  bar.style.transform = `scaleX(${goal ? Math.min(1, done / goal) : 0})`;
}

/** @param {View} view @returns {Part} */
export function topics(view) {
  const select = /** @type {HTMLSelectElement} */ (view.node("topics"));
  /** The topics as they are listed. @type {Topic[]} */
  let listed = [];
  /** Topics with judgements that were not counted when they were listed. */
  let touched = new Set();
  let visit = 0;

  /** @param {string | undefined} queryId */
  function choose(queryId) {
    if (queryId !== undefined) view.card.dispatch({ type: "topic", queryId });
  }

  /** @param {"topic" | "all"} name @param {Topic | null} topic */
  function drawJudged(name, topic) {
    const { judged, pool } = countOf(view.state, topic);
    drawCount(
      view,
      name,
      figure(judged) + (pool === null ? view.words(" judged") : ` of ${figure(pool)}`),
      judged,
      pool,
    );
  }

  function drawProgress() {
    const topic = shownTopic(view);
    if (view.isLeft || !topic) return;
    drawJudged("topic", topic);
    drawJudged("all", null);
    // Topics without a goal of their own are part of the total only if a budget limits them.
    const { all, topics } = view.state.scope;
    const isLimited = typeof all?.pool === "number" && topics.some((/** @type {Topic} */ { pool }) => pool === null);
    view.setText("allWords", isLimited ? "within the budget" : view.words("in all topics"));
    drawOptions();
  }

  /** Only topics whose counts may have changed are drawn again: there may be hundreds. */
  function drawOptions() {
    const { state } = view;
    const [former, changed] = [listed, touched];
    touched = new Set(outstanding(state).map(({ decision }) => decision.query_id));
    listed = state.scope.topics;
    for (const [i, topic] of listed.entries()) {
      const { query_id } = topic;
      if (former[i] === topic && !changed.has(query_id) && !touched.has(query_id)) continue;
      const option = select.options[i] ?? select.appendChild(make("option"));
      option.value = query_id;
      const text = optionText(topic, countOf(state, topic), view.data.task);
      if (option.textContent !== text) option.textContent = text;
    }
    if (select.length !== listed.length) select.length = listed.length;
    const topic = shownTopic(view);
    const at = topic ? listed.indexOf(topic) : -1;
    if (select.selectedIndex !== at) select.selectedIndex = at;
  }

  return {
    actions: {
      "next-unfinished": {
        run: () => (view.waiting ? view.begin() : view.card.dispatch({ type: "next-topic" })),
        when: () => view.item === null,
      },
    },
    clicks: {
      "previous-topic": () => choose(listed[select.selectedIndex - 1]?.query_id),
      "next-topic": () => choose(listed[select.selectedIndex + 1]?.query_id),
      "go-topic": ({ dataset }) => choose(dataset.query),
    },
    attach(on) {
      on(select, "change", () => {
        choose(select.value);
        view.letGo();
      });
    },
    render(item, turned) {
      const { scope } = view.state;
      const topic = shownTopic(view);
      const [rule = "", words = ""] = scope.inLoop && topic?.query_id === scope.topic ? scope.chooser : [];
      view.setLine("chooserRule", view.words(rule), "chooser");
      view.setText("chooserState", view.words(words));
      if (!topic) return;
      if (turned && item && listed.length === scope.topics.length) setTimeout(drawProgress, AFTER_FRAMES);
      else drawProgress();
      view.setText("topicId", view.words`Topic ${cut(topic.query_id, 60)}`);
      // Without a title the id stands in its place; where topics have another name, their titles say what they are.
      view.setHidden("topicId", !topic.title || view.data.review_terms !== undefined);
      const at = scope.topics.indexOf(topic);
      // The two stages of a review need the width for their names.
      for (const name of ["previousTopic", "nextTopic"]) view.setHidden(name, topic.stage !== undefined);
      view.field("previousTopic").disabled = at === 0;
      view.field("nextTopic").disabled = at === scope.topics.length - 1;
    },
    /** A panel goes with the topic that it was opened in. */
    rendered() {
      const isOther = visit !== view.state.scope.visit;
      visit = view.state.scope.visit;
      if (isOther && view.panel) view.setPanel(null);
    },
  };
}

/**
 * An option is drawn by the browser, outside of the card's isolation: direction signs are left out there.
 *
 * @param {Topic} topic @param {{ judged: number, pool: number | null }} count @param {string | undefined} task
 */
function optionText(topic, { judged, pool }, task) {
  const name = topic.stage ?? nameOfTopic(topic);
  const count = pool === null ? figure(judged) : judged >= pool ? "✓" : `${judged}/${pool}`;
  const title = name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  // The answers to one question have the same title.
  const id = (task && /\.(a\d+(?:\.s\d+)?)$/.exec(topic.query_id)?.[1]) ?? "";
  return `${id && `${id} · `}${title.length > 40 ? `${title.slice(0, 40)}…` : title} · ${count}`; // the title first: letters that are typed find it
}
