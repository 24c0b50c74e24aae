// Time at work: this session, today, what is left, and a word after a long stretch.

/** @import { Part, TimeAnswer, TopicTime, View } from "../types.js" */

import { ONE_MOMENT } from "../frame/bar.js";
import { apart, cut, make } from "../frame/nodes.js";
import { count, figure } from "../frame/phrases.js";
import { whenOf } from "./history.js";

/** Ms without a sign of life that make a break. */
const BREAK = 5 * 60_000;

/** Ms at work after which the word is said again. */
const REMIND = 25 * 60_000;

/** Ms between looks at the stretch, and how soon after a save the open panel is brought up to date. */
const WATCH = 20_000;
const RENEW = 15_000;

/** The word after a long stretch of work. @param {View} view @returns {Part} */
export function breaks(view) {
  /** Start of the stretch of work and last activity, in ms. */
  let began = performance.now();
  let moved = began;
  let isBegun = false;
  /** Working time in ms after which the next break is suggested. */
  let due = restAfter();
  let words = "";

  /** The manager's setting in ms; 0 for never. */
  function restAfter() {
    return (view.data.card.rest_after ?? 0) * 60_000;
  }

  /** @param {string} said */
  function say(said) {
    words = said;
    view.render();
  }

  /** A sign of life, which may end a break. */
  function move() {
    const now = performance.now();
    const isBreak = now - moved >= BREAK;
    moved = now;
    if (!isBreak) return;
    [began, due] = [now, restAfter()];
    if (words) say("");
  }

  function watch() {
    const now = performance.now();
    const worked = now - began;
    if (!isBegun || now - moved >= BREAK || worked < due) return;
    due = worked + REMIND;
    const minutes = count(Math.round(worked / 60_000), "minute");
    say(
      view.words`You have been judging for ${minutes} without a break. A five-minute break helps to keep grades consistent.`,
    );
  }

  return {
    clicks: { "close-rest": () => say("") },
    stepBack: () => (words ? () => say("") : null),
    attach(on) {
      for (const type of ["pointermove", "pointerdown", "wheel", "keydown", "click", "scroll"])
        on(window, type, move, { passive: true, capture: true });
      const watching = setInterval(watch, WATCH);
      return () => clearInterval(watching);
    },
    render() {
      view.setLine("restingWords", words, "resting");
      if (isBegun || !restAfter() || !view.state.units.length) return;
      isBegun = true;
      // Work before this page was opened, on any device, counts too.
      void view.ask("time", {}).then(({ answer }) => (began -= (answer?.since_break ?? 0) * 1000));
    },
  };
}

/** The panel with times and counts. @param {View} view @returns {Part} */
export function sessionTime(view) {
  /** The counts that were asked for, and when they are asked for again. @type {unknown} */
  let seen = null;
  let timer = 0;

  async function ask() {
    const { all } = view.state.scope;
    stop();
    seen = all;
    if (view.node("timeBody").hidden) view.setLine("timeSays", ONE_MOMENT);
    const day = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
    const { answer, cause } = await view.ask("time", { day });
    if (answer && seen === all) draw(answer);
    view.setLine("timeSays", cause ? `Times could not be loaded: ${cause}.` : "");
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
  }

  /** @param {TimeAnswer} answer */
  function draw({ session, today, since, pace, left, topics, others }) {
    view.setHidden("timeBody", false);
    for (const [name, { judgements, active, away }] of Object.entries({ session, today })) {
      view.setText(`${name}Count`, figure(judgements));
      view.setText(`${name}Active`, active);
      view.setText(`${name}Away`, away);
    }
    view.setText("sessionSince", since ? ` since ${whenOf(since)}` : "");
    view.setText("timePace", pace);
    view.setText("timeLeft", left);
    view.setHidden("perTopicBlock", !topics.length);
    const rows = topics.map(topicRow);
    if (others) rows.push(make("li", { className: "cd-says" }, `and ${figure(others)} more`));
    view.node("perTopic").replaceChildren(...rows);
  }

  return {
    panels: {
      time: {
        beside: true,
        open() {
          view.setPanel("time");
          void ask();
        },
        render() {
          if (seen !== view.state.scope.all && !timer) timer = window.setTimeout(ask, RENEW);
        },
        left: stop,
      },
    },
  };
}

/** @param {TopicTime} topic */
function topicRow({ query_id, title, words }) {
  const button = make(
    "button",
    { type: "button", className: "cd-small cd-topic-row", dataset: { do: "go-topic", query: query_id } },
    apart("span", cut(title || query_id, 120)),
    make("span", { className: "cd-share" }, words),
  );
  return make("li", {}, button);
}
