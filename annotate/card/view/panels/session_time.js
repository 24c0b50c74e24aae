// Time at work: this session, today, what is left, and a word after a long stretch.

/** @import { Part, TimeAnswer, TopicTime, View } from "../types.js" */

import { ONE_MOMENT } from "../frame/bar.js";
import { apart, cut, make } from "../frame/nodes.js";
import { asSentence, briefly, count, duration, durationRange, figure } from "../frame/phrases.js";
import { whenOf } from "./history.js";

/** Ms without a sign of life that make a break. */
const BREAK = 5 * 60_000;

/** Ms at work after which the word is said again. */
const REMIND = 25 * 60_000;

/** Ms between looks at the stretch, and how soon after a save the open panel is brought up to date. */
const WATCH = 20_000;
const RENEW = 15_000;

/** Rows of topics. */
const MOST_TOPICS = 20;

/** Estimates are rounded: to 5 minutes from half an hour on, to the half hour from 5 hours on. @param {number} seconds */
export function roughly(seconds) {
  const step = seconds < 600 ? 60 : seconds < 1800 ? 120 : seconds < 18_000 ? 300 : 1800;
  return Math.max(60, Math.round(seconds / step) * step);
}

/** What is left to judge, and for how long. @param {Pick<TimeAnswer, "left" | "estimate" | "why">} answer */
export function leftWords({ left, estimate, why }) {
  if (left === null) return `${asSentence(why || "no end is known")}.`;
  if (!left) return "Nothing is left for you right now.";
  const documents = `${count(left, "document")} left`;
  if (!estimate) return why ? `${documents}. ${asSentence(why)}.` : `${documents}.`;
  const time = durationRange(roughly(estimate.low), roughly(estimate.high));
  return `${documents}, about ${time} at your recent pace${why ? `, ${why}` : ""}.`;
}

/** Topics that are begun come first, those that are done last. @param {TopicTime[]} topics */
export function inOrder(topics) {
  const place = (/** @type {TopicTime} */ { judged, left }) => (left === 0 ? 2 : judged ? 0 : 1);
  return topics.toSorted((a, b) => place(a) - place(b));
}

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
    return Number(view.data.card.rest_after ?? 0) * 60_000;
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
    say(`You have been judging for ${minutes} without a break. A five-minute break helps to keep grades consistent.`);
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
  function draw(answer) {
    const { today, session, per_topic: topics } = answer;
    view.setHidden("timeBody", false);
    for (const [name, work] of Object.entries({ session, today })) {
      const { judgements, seconds, away } = work ?? { judgements: 0, seconds: 0, away: 0 };
      view.setText(`${name}Count`, figure(judgements));
      view.setText(`${name}Active`, briefly(seconds));
      view.setText(`${name}Away`, briefly(away));
    }
    view.setText("sessionSince", session ? ` since ${whenOf(session.since)}` : "");
    const pace = session?.judgements ? `${duration(session.seconds / session.judgements)} per document` : "–";
    view.setText("timePace", pace);
    view.setText("timeLeft", leftWords(answer));
    view.setHidden("perTopicBlock", !topics.length);
    const rows = inOrder(topics).slice(0, MOST_TOPICS).map(topicRow);
    const others = topics.length - rows.length;
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
function topicRow({ query_id, title, judged, left, seconds }) {
  const rest = left === null ? "" : `, ${figure(left)} left`;
  const each = seconds !== null && seconds >= 1 ? `, ${duration(seconds)} each` : "";
  const button = make(
    "button",
    { type: "button", className: "cd-small cd-topic-row", dataset: { do: "go-topic", query: query_id } },
    apart("span", cut(title || query_id, 120)),
    make("span", { className: "cd-share" }, `${figure(judged)} judged${rest}${each}`),
  );
  return make("li", {}, button);
}
