// Time at work: this session, today, what is left, and a word after a long stretch.

/** @import { On, Part, Reaction } from "./types.js" */
/** @import { View } from "./view.js" */
/** @import { TimeAnswer, TopicTime } from "../wire.d.ts" */

import { causeOf } from "../shell/network.js";
import * as viewingTime from "../shell/viewing_time.js";
import { ONE_MOMENT } from "./bar.js";
import { whenOf } from "./history.js";
import { apart, cut, make } from "./nodes.js";
import { asSentence, briefly, count, duration, durationRange, figure } from "./phrases.js";

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

/** @implements {Part} */
export class SessionTime {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** Ms at work since the last break: before this page was opened, and on it. */
    this.before = 0;
    this.clock = viewingTime.start(performance.now(), "", view.card.isInFront());
    /** At how many the next word is said. */
    this.due = this.restAfter;
    this.isBegun = false;
    this.resting = "";
    /** @type {TimeAnswer | null} */
    this.answer = null;
    this.trouble = "";
    /** The counts that the answer was asked for with. @type {unknown} */
    this.seen = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.actions = { time: { run: () => this.open(), panel: "time" } };
    this.clicks = { "close-rest": () => this.closeRest() };
    this.panels = {
      time: { node: "timePanel", beside: true, render: () => this.renewSoon(), left: () => this.stop() },
    };
  }

  /** The manager's setting in ms; 0 for never. */
  get restAfter() {
    return Number(this.view.data.card.rest_after ?? 0) * 60_000;
  }

  // ------------------------------------------------------------------------------------- a long stretch

  /** @param {On} on */
  attach(on) {
    for (const type of ["pointermove", "pointerdown", "wheel", "keydown", "click", "scroll"])
      on(window, type, () => this.move(), { passive: true, capture: true });
    const watching = setInterval(() => this.watch(), WATCH);
    return () => clearInterval(watching);
  }

  /** A sign of life, which may end a break. */
  move() {
    const now = performance.now();
    const inFront = this.view.card.isInFront();
    if (now - this.clock.moved < BREAK) {
      this.clock = viewingTime.move(this.clock, now, inFront);
      return;
    }
    this.clock = viewingTime.start(now, "", inFront);
    this.before = 0;
    this.due = this.restAfter;
    if (this.resting) this.closeRest();
  }

  watch() {
    const now = performance.now();
    if (!this.isBegun || now - this.clock.moved >= BREAK) return; // that is a break already
    this.clock = viewingTime.run(this.clock, now, this.view.card.isInFront());
    const worked = this.before + this.clock.active;
    if (worked < this.due) return;
    this.due = worked + REMIND;
    const minutes = count(Math.round(worked / 60_000), "minute");
    this.resting = `You have been judging for ${minutes} without a break. A five-minute break helps to keep grades consistent.`;
    this.view.render();
  }

  closeRest() {
    this.resting = "";
    this.view.render();
  }

  /** What was worked before this page was opened, on this device or another, counts as well. */
  async begin() {
    this.isBegun = true;
    try {
      this.before = (await this.view.card.post("time", {})).since_break * 1000;
    } catch {
      this.before = 0; // then it is counted from here on
    }
  }

  /** @returns {Reaction} */
  stepBack() {
    return this.resting ? () => this.closeRest() : null;
  }

  render() {
    const { view } = this;
    if (!this.isBegun && this.restAfter && view.state.units.length) void this.begin();
    view.setText("restingWords", this.resting);
    view.setHidden("resting", !this.resting);
  }

  // ----------------------------------------------------------------------------------------- the panel

  open() {
    this.view.togglePanel("time");
    return this.view.panel === "time" && this.ask();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  renewSoon() {
    if (this.seen === this.view.state.scope.all || this.timer !== undefined) return;
    this.timer = setTimeout(() => this.ask(), RENEW);
  }

  async ask() {
    const { view } = this;
    const { all } = view.state.scope;
    this.stop();
    this.seen = all;
    const day = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
    try {
      /** @type {TimeAnswer} */
      const answer = await view.card.post("time", { day });
      if (this.seen === all) Object.assign(this, { answer, trouble: "" });
    } catch (error) {
      this.trouble = `Times could not be loaded: ${causeOf(error)}.`;
    }
    this.draw();
  }

  draw() {
    const { view, answer } = this;
    const says = this.trouble || (answer ? "" : ONE_MOMENT);
    view.setText("timeSays", says);
    view.setHidden("timeSays", !says);
    view.setHidden("timeBody", !answer);
    if (!answer) return;
    const { today, session, per_topic: topics } = answer;
    const none = { judgements: 0, seconds: 0, away: 0 };
    for (const [name, { judgements, seconds, away }] of Object.entries({ session: session ?? none, today })) {
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
    if (others) rows.push(make("li", { className: "cd-says", textContent: `and ${figure(others)} more` }));
    view.node("perTopic").replaceChildren(...rows);
  }
}

/** @param {TopicTime} topic */
function topicRow({ query_id, title, judged, left, seconds }) {
  const button = make("button", { type: "button", className: "cd-small cd-topic-row" });
  Object.assign(button.dataset, { do: "go-topic", query: query_id });
  const rest = left === null ? "" : `, ${figure(left)} left`;
  const each = seconds !== null && seconds >= 1 ? `, ${duration(seconds)} each` : "";
  const share = make("span", { className: "cd-share", textContent: `${figure(judged)} judged${rest}${each}` });
  button.append(apart("span", cut(title || query_id, 120)), share);
  const row = make("li");
  row.append(button);
  return row;
}
