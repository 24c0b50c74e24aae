// Time at work: this session, today, what is left, and a word after a long stretch. Part of one module: see state.js.

const BREAK = 5 * 60_000; // without a sign of life: a break
const REMIND = 25 * 60_000; // after which the word is said again
const WATCH = 20_000; // how often the stretch is looked at
const RENEW = 15_000; // how soon after a save the open panel is brought up to date

/** `worked`: active ms since the last break, without the document on screen; `due`: at how much the next word is said. */
const emptyTime = () => ({
  worked: 0, due: null, resting: "", begun: false, answer: null, trouble: "", asked: null, timer: null, seen: null,
});

const restAfter = (state) => (state.card.rest_after ?? 0) * 60_000;

// ------------------------------------------------------------------------------------ a long stretch

/** Ends a break: activity after `still` ms without any. */
function signOfLife(state, still) {
  if (still < BREAK) return;
  Object.assign(state.time, { worked: state.clock ? -state.clock.active : 0, due: null });
  if (state.time.resting) closeRest(state);
}

/** Adds the time of the document that leaves the screen. */
function addTime(state) {
  runClock(state);
  state.time.worked += state.clock?.active ?? 0;
}

function watchTime(state) {
  const { time, view, clock } = state;
  if (!view || !restAfter(state)) return;
  if (!time.begun) return;
  runClock(state);
  if (clock && performance.now() - clock.moved >= BREAK) return; // it is a break already
  const worked = time.worked + (clock?.active ?? 0);
  time.due ??= restAfter(state);
  if (worked < time.due) return;
  time.due = worked + REMIND;
  const minutes = Math.round(worked / 60_000);
  time.resting = `You have been judging for ${count(minutes, "minute")} without a break. A five-minute break helps to keep grades consistent.`;
  refresh(state);
}

function closeRest(state) {
  state.time.resting = "";
  refresh(state);
}

/** What was worked before this page was opened, on this device or another, counts as well. */
async function beginTime(state) {
  const { time } = state;
  if (time.begun || !restAfter(state)) return;
  time.begun = true;
  try {
    const { since_break: seconds } = await post(state, "time", {});
    if (Number.isFinite(seconds)) time.worked += seconds * 1000;
  } catch {
    // then it is counted from here on
  }
}

// ----------------------------------------------------------------------------------------- the panel

function openTime(state) {
  if (state.panel === "time") return setPanel(state, null);
  setPanel(state, "time");
  return askTime(state);
}

async function askTime(state) {
  const { time } = state;
  clearTimeout(time.timer);
  time.timer = null;
  const ask = {};
  time.asked = ask;
  time.seen = state.all;
  let answer = null;
  let trouble = "";
  try {
    answer = await post(state, "time", { day: new Date(new Date().setHours(0, 0, 0, 0)).toISOString() });
    if (typeof answer?.session !== "object" || typeof answer.today !== "object") throw new Failure(-1);
  } catch (error) {
    answer = null;
    trouble = `Times could not be loaded: ${causeOf(error)}.`;
  }
  if (time.asked !== ask) return;
  Object.assign(time, { asked: null, trouble });
  if (answer) time.answer = answer;
  if (state.view) renderTime(state, state.view);
}

/** Estimates are rounded: to 5 minutes from half an hour on, to the half hour from 5 hours on. */
function roughly(seconds) {
  const step = seconds < 600 ? 60 : seconds < 1800 ? 120 : seconds < 18_000 ? 300 : 1800;
  return Math.max(60, Math.round(seconds / step) * step);
}

const MOST_TOPICS = 20; // rows

function leftWords({ left, estimate, why = "" }) {
  if (left === null || left === undefined) return `${asSentence(why || "no end is known")}.`;
  const documents = `${count(left, "document")} left`;
  if (!left) return "Nothing is left for you right now.";
  if (!Number.isFinite(estimate?.low)) return why ? `${documents}. ${asSentence(why)}.` : `${documents}.`;
  const time = durationRange(roughly(estimate.low), roughly(estimate.high));
  return `${documents}, about ${time} at your recent pace${why ? `, ${why}` : ""}.`;
}

function renderTime(state, view) {
  if (state.panel !== "time") return;
  const { time } = state;
  if (time.answer && time.seen !== state.all && time.timer === null && !time.asked) {
    time.timer = setTimeout(() => (state.panel === "time" ? askTime(state) : undefined), RENEW);
  }
  if (view.drawn.time === time.answer && view.drawn.timeTrouble === time.trouble) return;
  view.drawn.time = time.answer;
  view.drawn.timeTrouble = time.trouble;
  setText(view, "timeSays", time.trouble || (time.answer ? "" : ONE_MOMENT));
  setHidden(view.timeSays, !time.trouble && Boolean(time.answer));
  setHidden(view.timeBody, !time.answer);
  if (!time.answer) return;
  const { today, per_topic: topics = [] } = time.answer;
  const session = time.answer.session ?? { judgements: 0, seconds: 0, away: 0 }; // none goes on
  for (const [name, { judgements, seconds, away }] of [["session", session], ["today", today]]) {
    setText(view, `${name}Count`, figure(judgements));
    setText(view, `${name}Active`, briefly(seconds));
    setText(view, `${name}Away`, briefly(away ?? 0));
  }
  setText(view, "sessionSince", session.since ? ` since ${whenOf(session.since)}` : "");
  const pace = session.judgements ? `${duration(session.seconds / session.judgements)} per document` : "–";
  setText(view, "timePace", pace);
  setText(view, "timeLeft", leftWords(time.answer));
  setHidden(view.perTopicBlock, !topics.length);
  const order = ({ judged, left }) => (left === 0 ? 2 : judged ? 0 : 1); // begun ones first, done ones last
  const shown = [...topics].sort((a, b) => order(a) - order(b)).slice(0, MOST_TOPICS);
  const others = topics.length - shown.length;
  view.perTopic.replaceChildren(...shown.map((topic) => {
    const row = make("li");
    const button = make("button", { type: "button", className: "cd-small cd-topic-row" });
    Object.assign(button.dataset, { do: "go-topic", query: topic.query_id });
    button.append(make("span", { className: "cd-apart", dir: "auto", textContent: forward(cut(topic.title || topic.query_id, 120)) }));
    const left = topic.left === null || topic.left === undefined ? "" : `, ${figure(topic.left)} left`;
    const each = topic.seconds >= 1 ? `, ${duration(topic.seconds)} each` : "";
    button.append(make("span", { className: "cd-share", textContent: `${figure(topic.judged)} judged${left}${each}` }));
    row.append(button);
    return row;
  }), ...(others ? [make("li", { className: "cd-says", textContent: `and ${figure(others)} more` })] : []));
}

function renderResting(state, view) {
  setText(view, "restingWords", state.time.resting);
  setHidden(view.resting, !state.time.resting);
}

action("time", (state) => openTime(state),
  { panel: "time" });
panel("time", { node: "timePanel", beside: true, render: renderTime, left: (state) => clearTimeout(state.time.timer) });
onButton("go-topic", (state, button) => changeTopic(state, button.dataset.query));
onButton("close-rest", (state) => closeRest(state));
