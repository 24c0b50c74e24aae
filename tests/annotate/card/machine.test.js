// Whatever keys are pressed, answers lost, tabs opened, reloaded and killed: nothing is lost, nothing doubled, and a
// decision goes only to what was on screen.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { adjudication } from "../../../annotate/card/core/kinds/adjudication.js";
import { grade } from "../../../annotate/card/core/kinds/grade.js";
import { list } from "../../../annotate/card/core/kinds/list.js";
import { preference } from "../../../annotate/card/core/kinds/preference.js";
import { newTopicUnit, onScreen } from "../../../annotate/card/core/state.js";
import { commit, doc, isComplete, standing, World } from "./world.js";

/** @import { Kind, Question, Sent } from "../../../annotate/card/core/types.js" */
/** @import { Server } from "./world.js" */

const RUNS = Number(process.env.CARD_RUNS ?? 60);
/** The plan after each answer; no promise. */
const THEN = "then";
const DOCS = ["d1", "d2", "d3", "d4", "d5", "d6"];
/** Two sentences of an answer, and another answer: the ids matter only where sentences follow each other. */
const TOPICS = ["t1.a1.s1", "t1.a1.s2", "t1.a2.s1"];

/** @param {string} queryId */
const topic = (queryId) => ({ query_id: queryId, title: `Topic ${queryId}`, description: "", narrative: "", note: "" });

/** @param {Partial<Question> & Pick<Question, "name" | "kind">} question @param {number} count @returns {Question} */
const question = ({ name, kind, ...others }, count) => ({
  ...{ name, kind, sentence: `${name}?`, required: true, from: null, to: null },
  answers: Array.from({ length: count }, (_, i) => ({
    value: kind === "grades" ? i : `${name}-${i}`,
    label: `${i}`,
    sentence: `${name} ${i}`,
  })),
  ...others,
});

/** Questions that a campaign has one after another: some are added, some removed, and answers change. @type {Question[][]} */
const QUESTIONS = [
  [
    question({ name: "credibility", kind: "grades", from: 1 }, 4),
    question({ name: "exclusion", kind: "choice", to: 0, required_in: ["t1.a2.s1"] }, 7),
    question({ name: "tags", kind: "tags", required: false }, 3),
  ],
  [
    question({ name: "effort", kind: "grades" }, 12),
    question({ name: "credibility", kind: "grades", from: 2 }, 2),
    question({ name: "topics", kind: "tags", from: 1, to: 2 }, 2),
  ],
  [
    question({ name: "exclusion", kind: "choice", required: false }, 3),
    question({ name: "tags", kind: "tags" }, 5),
    question({ name: "credibility", kind: "grades", from: 1 }, 4),
  ],
];

/**
 * Grades from a pool, or in the loop: then the order changes with each answer. Judgements that lack an answer are handed
 * out again after the others.
 *
 * @param {boolean} inLoop @param {{ questions: Question[] }} campaign @param {boolean} goesOn topics follow each other at once
 * @returns {Server}
 */
function gradeServer(inLoop, campaign = { questions: [] }, goesOn = false) {
  /** @type {Server["log"]} */
  const log = new Map();
  let round = 0;
  /** Those that the card asks. @type {Question[]} */
  let asked = [];
  const isDone = (/** @type {Sent} */ decision) => isComplete(asked, decision);
  const all = (/** @type {string} */ queryId) =>
    [...standing(grade, log).values()].filter(({ query_id }) => query_id === queryId);
  const judged = (/** @type {string} */ queryId) => all(queryId).filter(isDone);
  const payload = (/** @type {string} */ queryId, /** @type {string} */ id) => {
    const said = all(queryId).find(({ doc_id }) => doc_id === id);
    return { ...doc(id), ...(said && { said: saidOf(said) }) };
  };
  const progress = (/** @type {string} */ queryId) => ({
    judged: judged(queryId).length,
    pool: inLoop ? null : DOCS.length,
  });
  return {
    log,
    goesOn,
    answer(route, body) {
      asked = campaign.questions.filter(({ name }) => body.questions?.includes(name));
      if (route === "topics")
        return {
          topics: TOPICS.map((id) => ({ ...topic(id), ...progress(id), without_text: 0 })),
          last: null,
          work: null,
        };
      if (route === "document") return { ...doc(body.doc_id), said: null };
      const answer = commit(log, body.decisions, ({ doc_id, kind }) => doc_id === "d6" && kind === "cannot judge");
      const done = new Set(judged(body.query_id).map(({ doc_id }) => doc_id));
      const count = TOPICS.reduce((sum, id) => sum + judged(id).length, 0);
      const every = { judged: count, pool: inLoop ? null : DOCS.length * TOPICS.length };
      if (body.query_id === null)
        return { ...answer, documents: [], closed: [], surplus: [], feedback: [], progress: { all: every } };
      const isOld = (/** @type {string} */ id) => all(body.query_id).some(({ doc_id }) => doc_id === id);
      const open = DOCS.filter((id) => !done.has(id)).sort((a, b) => Number(isOld(a)) - Number(isOld(b)));
      round += 1;
      const order = inLoop ? (round % 2 ? open : [...open].reverse()) : undefined;
      const fresh = (order ?? open).filter((id) => !body.holding.includes(id)).slice(0, body.want);
      const held = [body.query_id, ...(body.ahead ?? [])];
      let room = body.want - fresh.length;
      const ahead = TOPICS.filter((id) => !held.includes(id)).flatMap((id) => {
        const ids = DOCS.filter((each) => !judged(id).some(({ doc_id }) => doc_id === each)).slice(0, room);
        room -= ids.length;
        return ids.length ? { query_id: id, documents: ids.map((each) => payload(id, each)), all: room > 0 } : [];
      });
      return {
        ...answer,
        query_id: body.query_id,
        documents: fresh.map((id) => payload(body.query_id, id)),
        closed: body.holding.filter((/** @type {string} */ id) => done.has(id)),
        surplus: [],
        feedback: [],
        progress: { all: every, topic: progress(body.query_id) },
        ...(goesOn && { ahead }),
        ...(order && { order, model_round: round, behind: round % 3 === 0, problem: null, chooser: ["rule", "words"] }),
        ...(body.recent && {
          recent: judged(body.query_id)
            .reverse()
            .map((each) => ({ query_id: each.query_id, ...doc(each.doc_id ?? ""), ...saidOf(each) })),
        }),
        ...(body.want > 0 &&
          !open.length && {
            ...(goesOn && { goes_on: true }),
            next: TOPICS.find((id) => judged(id).length < DOCS.length && !body.tried.includes(id)) ?? null,
          }),
      };
    },
  };
}

/** @param {Sent} decision */
const saidOf = ({ kind, relevance, reason, note, flagged, passages, answers }) => ({
  ...{ kind, relevance, reason, note, flagged, passages, ...(answers && { answers }) },
});

/** Pairs to adjudicate. @returns {Server} */
function adjudicationServer() {
  /** @type {Server["log"]} */
  const log = new Map();
  const pairs = DOCS.map((id) => JSON.stringify(["t1", id]));
  const unit = (/** @type {string} */ pair) => {
    const former = standing(adjudication, log).get(pair) ?? null;
    return { topic: topic("t1"), documents: [doc(JSON.parse(pair)[1])], opinions: [], former };
  };
  return {
    log,
    answer(route, body) {
      if (route === "adjudication/recent")
        return {
          decisions: [...standing(adjudication, log).values()].reverse().map((each) => ({ ...each, title: "a title" })),
        };
      if (route === "adjudication/unit") return unit(body.unit);
      const answer = commit(log, body.decisions);
      const open = pairs.filter((pair) => !standing(adjudication, log).has(pair));
      const fresh = open.filter((pair) => !body.holding.includes(pair)).slice(0, body.want);
      return {
        ...answer,
        task: "adjudication",
        units: fresh.map(unit),
        closed: body.holding.filter((/** @type {string} */ pair) => !open.includes(pair)),
        exhausted: true,
        progress: { done: pairs.length - open.length, goal: pairs.length },
      };
    },
  };
}

/** Topics to choose documents in, or to compare two after two. @param {Kind} kind @returns {Server} */
function topicServer(kind) {
  /** @type {Server["log"]} */
  const log = new Map();
  const isList = kind === list;
  const comparisons = [
    ["d1", "d2"],
    ["d1", "d3"],
    ["d2", "d3"],
  ];
  const subject = (/** @type {string} */ id, /** @type {string[]} */ pair) =>
    preference.subject({ query_id: id, left: pair[0] ?? "", right: pair[1] ?? "" });
  const left = (/** @type {string} */ id) => comparisons.filter((pair) => !standing(kind, log).has(subject(id, pair)));
  const isDone = (/** @type {string} */ id) => (isList ? standing(kind, log).has(id) : !left(id).length);
  /** @param {string[][]} pairs @param {number} depth @returns {any} */
  const ahead = (pairs, depth) => {
    if (!pairs.length) return { pair: null };
    const rest = depth ? ahead(pairs.slice(1), depth - 1) : undefined;
    return { pair: pairs[0], ...(rest && { [THEN]: { left: rest, right: rest, equal: rest, "cannot judge": rest } }) };
  };
  const plan = (/** @type {string} */ id) => ({
    next: ahead(left(id), 1),
    done: comparisons.length - left(id).length,
    expected: comparisons.length,
  });
  const unit = (/** @type {string} */ id) => {
    const former = [...standing(kind, log).values()].filter(({ query_id }) => query_id === id);
    return {
      topic: topic(id),
      documents: DOCS.slice(0, 3).map(doc),
      ...(isList ? { former: former[0] ?? null } : { former, plan: plan(id) }),
    };
  };
  return {
    log,
    answer(route, body) {
      if (route.endsWith("/recent"))
        return {
          decisions: [...standing(kind, log).values()].reverse().map((each) => ({ ...each, title: "a title" })),
        };
      if (route.endsWith("/unit")) return unit(body.unit);
      const answer = commit(log, body.decisions);
      const open = TOPICS.filter((id) => !isDone(id));
      const fresh = open.filter((id) => !body.holding.includes(id)).slice(0, body.want);
      const changed = body.decisions.length ? body.decisions.map((/** @type {Sent} */ { query_id }) => query_id) : [];
      const planned = isList ? [] : new Set(changed.length ? [...changed, ...body.holding.slice(0, 1)] : body.holding);
      return {
        ...answer,
        task: kind.name,
        units: fresh.map(unit),
        plans: Object.fromEntries([...planned].map((id) => [id, plan(id)])),
        closed: body.holding.filter((/** @type {string} */ id) => !open.includes(id)),
        exhausted: true,
        progress: { done: TOPICS.length - open.length, goal: TOPICS.length },
      };
    },
  };
}

/** The number of finished units; a judgement without all answers is handed out again, an adjudication is not. @param {World} world */
const finished = ({ kind, questions, server }) =>
  [...standing(kind, server.log).values()].filter((each) => kind !== grade || isComplete(questions, each)).length;

/** Decides all that is left, as a patient person would. @param {World} world @param {number} all */
function finish(world, all) {
  const [first, ...others] = world.tabs;
  if (!first) return;
  for (const tab of others) world.close(tab, true);
  rerun(world, first);
  for (let round = 0; round < 600 && finished(world) < all; round += 1) {
    const item = onScreen(world.kind, first.state);
    if (item?.question) respond(first, round);
    else if (item?.entry) first.dispatch({ type: "look", step: first.state.history.length });
    else if (newTopicUnit(world.kind, first.state)) first.dispatch({ type: "enter" });
    else if (item) first.dispatch({ type: "decide", answer: answerOf(world.kind, round), ...first.by() });
    else {
      first.dispatch({ type: "next-topic" });
      world.pass(12_000);
    }
    world.load();
  }
}

/** What a person or the network does next; the numbers choose among what there is. */
const happening = fc.record({
  what: fc.constantFrom(
    "decide",
    "decide",
    "decide",
    "decide and be asked",
    "respond",
    "respond",
    "respond",
    "pass",
    "pass",
    "clear",
    "step back",
    "stale",
    "cannot judge",
    "new questions",
    "undo",
    "undo",
    "skip",
    "back",
    "forward",
    "note",
    "passage",
    "tick",
    "enter",
    "enter",
    "serve",
    "serve",
    "serve",
    "answer",
    "answer",
    "answer",
    "lose request",
    "lose answer",
    "refuse token",
    "kill server",
    "hear",
    "hear",
    "pass",
    "pass",
    "long pass",
    "open",
    "reload",
    "rerun",
    "visit",
    "close",
    "kill",
    "away",
    "topic",
    "next topic",
    "call",
  ),
  tab: fc.nat(3),
  n: fc.nat(9),
});

/** @param {Kind} kind @param {number} n */
function answerOf(kind, n) {
  if (kind === list) return { kind: "chosen", chosen: n % 3 ? [`d${(n % 3) + 1}`] : [] };
  if (kind === preference) return { kind: ["left", "equal", "right"][n % 3] ?? "equal" };
  return { kind: "graded", relevance: n % 4 };
}

/** Answers the question on screen by a key; tags are passed every other time. @param {World["tabs"][number]} tab @param {number} n */
function respond(tab, n) {
  const { question = null } = onScreen(tab.world.kind, tab.state) ?? {};
  const value = question?.answers[n % question.answers.length]?.value ?? "none";
  if (question?.kind === "tags" && n % 2) tab.dispatch({ type: "pass", ...tab.by() });
  else tab.dispatch({ type: "respond", value, ...tab.by() });
}

/** The page runs again, with the questions that the campaign has by now. @param {World} world @param {World["tabs"][number]} tab @param {boolean} fresh */
function rerun(world, tab, fresh = false) {
  tab.dispatch({ type: "unmount" });
  if (fresh) world.pass(2_000);
  tab.dispatch({ type: "mount", fresh, requested: null, questions: world.questions });
}

/** @param {World} world @param {{ what: string, tab: number, n: number }} event */
function happen(world, { what, tab: which, n }) {
  const { kind } = world;
  const tab = world.tabs[which % Math.max(1, world.tabs.length)] ?? world.open();
  const at = (/** @type {unknown[]} */ queue) => n % Math.max(1, queue.length);
  if (what === "decide") tab.dispatch({ type: "decide", answer: answerOf(kind, n), ...tab.by() });
  if (what === "respond") respond(tab, n);
  if (what === "pass" || what === "clear") tab.dispatch({ type: "pass", clears: what === "clear", ...tab.by() });
  if (what === "step back") tab.dispatch({ type: "step-back" });
  if (what === "new questions" && world.campaign.questions.length) world.campaign.questions = QUESTIONS[n % 3] ?? [];
  if (what === "stale") tab.dispatch({ type: "decide", answer: answerOf(kind, n), ...tab.by("something else") });
  if (what === "cannot judge")
    tab.dispatch({ type: "decide", answer: { kind: "cannot judge", reason: "broken" }, ...tab.by() });
  if (what === "decide and be asked")
    tab.dispatch({ type: "decide", answer: answerOf(kind, n), asks: true, ...tab.by() });
  if (what === "undo") tab.dispatch({ type: "undo", ...tab.by() });
  if (what === "skip") tab.dispatch({ type: "skip" });
  if (what === "back") tab.dispatch({ type: "look", step: -1 });
  if (what === "forward") tab.dispatch({ type: "look", step: 1 });
  if (what === "passage" && kind === grade)
    tab.dispatch({ type: "mark", changes: { passages: [[world.count, world.count + 5]] }, ...tab.by() });
  if (what === "note") tab.dispatch({ type: "mark", changes: { note: `note ${n}` }, ...tab.by() });
  if (what === "tick" && kind === list) tab.dispatch({ type: "tick", id: `d${(n % 3) + 1}` });
  if (what === "serve") world.serve(at(world.requests));
  if (what === "answer") world.answer(at(world.answers));
  if (what === "lose request") world.lose("requests", at(world.requests), 0);
  if (what === "lose answer") world.lose("answers", at(world.answers), 0);
  if (what === "refuse token") world.lose("requests", at(world.requests), 401);
  if (what === "kill server") while (world.requests.length) world.lose("requests", 0, 0);
  if (what === "hear") world.hear(tab);
  if (what === "pass") world.pass(40);
  if (what === "long pass") world.pass(12_000);
  if (what === "open" && world.tabs.length < 3) world.open();
  if (what === "reload" || what === "close" || what === "kill") world.close(tab, what !== "kill");
  if (what === "reload") world.open();
  if (what === "away") {
    tab.dispatch({ type: "visible", visible: false });
    world.now += 40_000;
    tab.dispatch({ type: "visible", visible: true });
  }
  if (what === "topic" && kind === grade) tab.dispatch({ type: "topic", queryId: TOPICS[n % 3] });
  if (what === "next topic" && kind === grade) tab.dispatch({ type: "next-topic" });
  if (what === "enter") tab.dispatch({ type: "enter" });
  if (what === "rerun" || what === "visit") rerun(world, tab, what === "visit");
  if (what === "call") tab.dispatch({ type: "call" });
}

/** A tab decides before it hears of a new one, which then undoes what the first has revised. */
const UNHEARD = "open decide hear back decide hear:1 hear:1 serve undo:1 lose_request answer".split(" ").map((each) => {
  const [what = "", tab = "0"] = each.replace("_", " ").split(":");
  return { what: /** @type {any} */ (what), tab: Number(tab), n: 0 };
});

/** @typedef {{ questions: Question[] }} Campaign */

/** Each with the number of decisions that finish it, and whether it has further questions. @type {[string, Kind, (campaign: Campaign) => Server, number, boolean?][]} */
const KINDS = [
  ["grades from a pool", grade, () => gradeServer(false), 18],
  ["sentences that follow each other", grade, () => gradeServer(false, undefined, true), 18],
  ["sentences with several questions", grade, (campaign) => gradeServer(false, campaign, true), 18, true],
  ["grades in the loop", grade, () => gradeServer(true), 18],
  ["several questions", grade, (campaign) => gradeServer(false, campaign), 18, true],
  ["several questions in the loop", grade, (campaign) => gradeServer(true, campaign), 18, true],
  ["lists", list, () => topicServer(list), 3],
  ["preferences", preference, () => topicServer(preference), 9],
  ["adjudication", adjudication, adjudicationServer, 6],
  ["adjudication with several questions", adjudication, adjudicationServer, 6, true],
];

for (const [name, kind, server, all, asks] of KINDS) {
  const open = () => {
    const campaign = { questions: (asks && QUESTIONS[0]) || [] };
    const world = new World(kind, server(campaign), 1, campaign);
    world.load();
    return world;
  };

  test(`${name}: nothing is lost and nothing doubled, whatever happens`, () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 120, size: "max" }), (events) => {
        const world = open();
        for (const event of events) happen(world, event);
        world.settle();
        for (const [uuid, decision] of world.made) {
          const isRefused = world.refusedElsewhere(decision);
          assert(world.server.log.has(uuid) || isRefused, `${decision.kind} on ${kind.subject(decision)} is lost`);
        }
        for (const uuid of world.server.log.keys())
          assert(world.made.has(uuid), "the server has only what was decided");
        assert(![...world.storage.keys()].some((key) => key.startsWith("pending:")), "nothing is left to send");
      }),
      { numRuns: RUNS, examples: [[UNHEARD]] },
    );
  });

  test(`${name}: in one tab the last word stands, after reloads too`, () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 80, size: "max" }), (events) => {
        const world = open();
        for (const event of events)
          if (!["open", "kill", "close"].includes(event.what)) happen(world, { ...event, tab: 0 });
        world.settle();
        const made = new Map([...world.made].filter(([, decision]) => !world.refusedElsewhere(decision)));
        const stands = (/** @type {Map<string, Sent>} */ log) =>
          [...standing(kind, log)].map(([subject, { uuid }]) => `${subject} ${uuid}`).sort();
        assert.deepEqual(stands(world.server.log), stands(made));
        finish(world, all);
        assert.equal(finished(world), all, "nobody waits for ever");
      }),
      { numRuns: RUNS },
    );
  });
}
