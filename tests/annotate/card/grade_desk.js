// A server that hands out documents of topics to be graded, and its moods.

import { grade } from "../../../annotate/card/core/kinds/grade.js";
import { Desk } from "./helpers.js";
import { commit, doc, isComplete } from "./world.js";

/** @import { Question, Sent } from "../../../annotate/card/core/types.js" */

/** @param {number} first @param {number} count */
const documents = (first, count) => Array.from({ length: count }, (_, i) => `d${first + i}`);

/** Topics `t1`, `t2`, `t3` with documents `d100` and on, `d200` and on, `d300` and on. */
export class GradeDesk extends Desk {
  /** @param {number[]} sizes of the topics */
  constructor(...sizes) {
    super(grade, 0, 0);
    const counts = sizes.length ? sizes : [41, 3, 3];
    /** @type {Record<string, string[]>} */
    this.pool = Object.fromEntries(counts.map((count, i) => [`t${i + 1}`, documents(100 * (i + 1), count)]));
    /** Documents whose judgements do not count. @type {string[]} */
    this.surplus = [];
    /** Documents with a reference grade. @type {string[]} */
    this.settled = [];
    /** The topic that alone is handed out. @type {string | null} */
    this.first = null;
    /** Whether a topic with work is named where one has nothing. */
    this.movesOn = false;
    /** Calibration topics. @type {string[]} */
    this.calibrates = [];
    this.budget = "";
    /** Whether the loop chooses across topics. */
    this.acrossTopics = false;
    /** Whether the next topic begins at once, as sentences of an answer do. */
    this.goesOn = false;
    /** The model's order, best first, where the campaign is in the loop. @type {string[] | null} */
    this.order = null;
    /** How many answers still say that a newer order is on its way. */
    this.behind = 0;
    /** The topic of the newest judgement of another device. @type {string | null} */
    this.elsewhere = null;
    /** @type {{ query_id: string, doc_id: string }[]} */
    this.skips = [];
    /** Judgements without an answer to one of these are handed out again, if the card asks it. @type {Question[]} */
    this.questions = [];
    /** @type {Question[]} */
    this.asked = [];
  }

  /** @param {string} queryId @param {string} docId */
  isJudged(queryId, docId) {
    const said = this.saidOf(queryId, docId);
    return said !== null && isComplete(this.asked, said);
  }

  /** @param {string} queryId @param {string} docId */
  saidOf(queryId, docId) {
    return this.stands.find(({ query_id, doc_id }) => query_id === queryId && doc_id === docId) ?? null;
  }

  /** @param {string} queryId @param {string} id */
  payload(queryId, id) {
    const said = this.saidOf(queryId, id);
    return {
      ...doc(id),
      ...(said && { said: marksOf(said) }),
      ...(this.settled.includes(id) && { qualification: true }),
    };
  }

  /** @param {string} queryId */
  progress(queryId) {
    const pool = this.pool[queryId] ?? [];
    return { judged: pool.filter((id) => this.isJudged(queryId, id)).length, pool: this.order ? null : pool.length };
  }

  /** What is free of a topic; skipped documents come last. @param {string} queryId */
  free(queryId) {
    const skipped = this.skips.filter(({ query_id }) => query_id === queryId).map(({ doc_id }) => doc_id);
    const isLast = (/** @type {string} */ id) => Number(skipped.includes(id));
    return (this.order ?? this.pool[queryId] ?? [])
      .filter((id) => !this.isJudged(queryId, id) && !this.held.includes(id))
      .sort((a, b) => isLast(a) - isLast(b));
  }

  /** @param {string} queryId @param {string[]} tried */
  nextTopic(queryId, tried) {
    const topics = Object.keys(this.pool);
    const others = [...topics.filter((id) => id > queryId), ...topics.filter((id) => id < queryId)];
    return (this.movesOn && others.find((id) => !tried.includes(id) && this.free(id).length)) || null;
  }

  /** What follows a topic, and those of which the card holds documents. @param {string} queryId @param {number} room @param {string[]} held */
  loadAhead(queryId, room, held) {
    const topics = Object.keys(this.pool).filter((id) => id > queryId && !held.includes(id) && this.free(id).length);
    return topics.slice(0, Math.max(0, Math.min(room, 2))).map((id) => ({
      ...{ query_id: id, documents: this.free(id).map((each) => this.payload(id, each)), all: true },
    }));
  }

  /** @param {string} route @param {any} body */
  reply(route, body) {
    this.asked = this.questions.filter(({ name }) => body.questions?.includes(name));
    if (route === "topics") return this.ownTopics();
    if (route === "document") {
      const said = this.saidOf(body.query_id, body.doc_id);
      return { ...doc(body.doc_id), said: said ? marksOf(said) : null };
    }
    const answer = commit(this.log, body.decisions, ({ doc_id }) => this.refuses.includes(doc_id ?? ""));
    const saved = body.decisions.filter((/** @type {Sent} */ { uuid }) => answer.saved.includes(uuid));
    this.skips.push(...body.skips);
    return {
      ...answer,
      surplus: saved.filter(isOf(this.surplus)).map((/** @type {Sent} */ { uuid }) => uuid),
      feedback: saved.filter(isOf(this.settled)).map((/** @type {Sent} */ { uuid, doc_id }) => ({ uuid, doc_id })),
      ...(body.query_id === null ? { documents: [], closed: [], progress: null } : this.more(body)),
    };
  }

  ownTopics() {
    const topics = Object.keys(this.pool).map((id) => ({
      ...{ query_id: id, title: `Topic ${id}`, description: "", narrative: "", note: "", without_text: 0 },
      ...(this.calibrates.includes(id) && { first: true }),
      ...this.progress(id),
    }));
    return { topics, last: this.elsewhere ?? [...this.log.values()].at(-1)?.query_id ?? null, work: null };
  }

  /** @param {any} body */
  more({ query_id: queryId, holding, want, recent, tried, version, ahead = [] }) {
    const left = this.free(queryId).filter((id) => !holding.includes(id));
    const free = this.first !== null && this.first !== queryId ? [] : left;
    const every = Object.keys(this.pool).map((id) => this.progress(id));
    const isIdle = !free.length && !holding.length;
    const order = [...holding.slice(0, 1), ...this.free(queryId).filter((id) => id !== holding[0])];
    if (this.order && this.behind) this.behind -= 1;
    return {
      query_id: queryId,
      ...this.content({ holding, version }, (id) => [queryId, id]),
      documents: free.slice(0, want).map((id) => this.payload(queryId, id)),
      closed: holding.filter((/** @type {string} */ id) => this.isJudged(queryId, id)),
      first: this.first,
      ...(isIdle && { next: this.nextTopic(queryId, tried) }),
      budget: isIdle ? this.budget : "",
      progress: {
        topic: this.progress(queryId),
        all: {
          judged: every.reduce((sum, { judged }) => sum + judged, 0),
          pool: this.order ? null : every.reduce((sum, { pool }) => sum + (pool ?? 0), 0),
        },
      },
      across_topics: this.acrossTopics,
      ...(this.goesOn && { goes_on: true, ahead: this.loadAhead(queryId, want - free.length, ahead) }),
      ...(this.order && { order, model_round: this.log.size, behind: this.behind > 0, problem: null, chooser: [] }),
      ...(recent && {
        recent: this.stands
          .reverse()
          .map((each) => ({ query_id: each.query_id, ...doc(each.doc_id ?? ""), ...marksOf(each) })),
      }),
    };
  }
}

/** @param {string[]} ids */
const isOf =
  (ids) =>
  (/** @type {Sent} */ { doc_id, kind }) =>
    kind !== "undone" && ids.includes(doc_id ?? "");

/** What another browser is told of a decision. @param {Sent} decision */
const marksOf = ({ kind, relevance, reason, note, flagged, passages, answers }) => ({
  ...{ kind, relevance, reason, note, flagged, passages, ...(answers && { answers }) },
});
