/** The state of a judging card, and what goes in and out of its machine. */

import type {
  QualificationFeedback,
  DocumentPayload,
  Opinion,
  PlannedComparison,
  Refused,
  TopicPayload,
  TopicWords,
} from "../wire.d.ts";
import type { Turn } from "./state.js";

export type Doc = DocumentPayload;
export type Topic = TopicPayload;
export type Place = [start: number, end: number];

/** The parts of a decision besides the answer, stored as a draft until the decision is made. */
export interface Marks {
  note?: string | null;
  flagged?: boolean;
  passages?: Place[];
}

/** Marks that wait, in a list the documents that are selected but not submitted, and a judgement without all answers. */
export interface Draft extends Marks {
  chosen?: string[];
  unfinished?: Unfinished;
}

/** An answer to a further question: a grade, the key of an answer, or the keys of the tags that apply. */
export type AnswerValue = number | string | string[];

/** Answers by the names of their questions. */
export type Answers = Record<string, AnswerValue>;

/** A judgement whose further questions are being answered. */
export interface Unfinished {
  relevance: number;
  /** Answers so far, and those that were given before the annotator went back. */
  answers: Answers;
  /** The name of the further question on screen; null for the grade. */
  at: string | null;
  /** True if only missing answers are asked for. */
  fills?: boolean;
  /** Questions that are asked on request were asked for. */
  asks?: boolean;
}

/** The answer itself; which fields there are depends on the kind of unit. */
export interface Answer {
  kind: string;
  reason?: string | null;
  relevance?: number | null;
  chosen?: string[];
  /** To further questions; missing if there are none. */
  answers?: Answers;
}

/** The fields that say what a decision is about, besides `query_id`. */
export interface About {
  doc_id?: string;
  shown?: string[];
  chosen?: string[];
  left?: string;
  right?: string;
}

/** The viewing time of the unit, and how the decision was entered. */
export interface Viewing {
  shown_at: string;
  seconds: number;
  away: number;
  source: "key" | "click";
}

/** A decision as the server gets it; `uuid` is null for one that came from the server without. */
export interface Decision extends About, Answer, Marks, Partial<Viewing> {
  uuid: string | null;
  query_id: string;
  judged_at?: string | null;
}

/** A decision that was made in a browser. */
export interface Sent extends Decision {
  uuid: string;
}

/** The unit of a decision: a pair to grade or adjudicate, or a topic with its documents. */
export interface Unit {
  id: string;
  queryId: string;
  documents: Doc[];
  topic?: TopicWords;
  /** A decision that was undone. */
  before?: Decision | null;
  /** The annotator's judgement, which lacks an answer. */
  said?: Answer & Marks;
  /** Put behind the others, until it comes round again. */
  skipped?: boolean;
  /** Found by searching. */
  taken?: boolean;
  /** Was on screen or is to be, so the loop does not replace it. */
  kept?: boolean;
  /** All annotators' judgements, for adjudication. */
  opinions?: Opinion[];
  /** Preferences: the comparison now and after each answer; undefined until the server has sent it. */
  next?: PlannedComparison | undefined;
  done?: number;
  expected?: number;
}

/** A decision that can be looked back at and undone; `unit` is null until it is needed, `was` is what it replaced. */
export interface Entry {
  decision: Decision;
  title: string;
  unit: Unit | null;
  was: Entry | null;
  order: number;
  /** The server did not count it: the pair had all the judgements it needs. */
  surplus?: boolean;
}

/** A decision on its way to the server; `delta` is what it adds to the number of units done. */
export interface Pending {
  decision: Sent;
  order: number;
  delta: number;
  title: string;
  tab: string;
}

/** A decision of another tab, until an answer of the server counts it. */
export interface OtherDecision {
  pending: Pending;
  saved: boolean;
}

export interface Refusal extends Refused {
  title: string;
  decision: Sent;
}

/** The item on screen: an open unit, or an earlier decision (`entry`). */
export interface Item {
  unit: Unit;
  entry: Entry | null;
  about: About;
  /** A later decision with the same subject replaces this one. */
  subject: string;
  /** The subject, and whether it is an earlier decision. */
  drawn: string;
  /** The further question on screen; null for the grade. */
  question: Question | null;
  /** What a key refers to: `drawn` and the question. */
  on: string;
}

/** A message for the line above the buttons, without its words; an urgent one goes with what is on screen. */
export interface Notice {
  code: string;
  urgent?: boolean;
  title?: string;
  decision?: Decision;
  revised?: boolean;
  done?: boolean;
  saved?: boolean;
  on?: boolean;
  /** True if an unfinished change of an earlier decision was discarded. */
  discarded?: boolean;
  words?: string;
  status?: number;
  detail?: string;
}

/** A request to the server. Only one in the lane `sync` is under way at a time. */
export type Request = SyncRequest | FetchRequest | LastRequest;

export interface SyncRequest {
  lane: "sync";
  route: string;
  body: object;
  context: SyncContext;
}

/** Context that the machine needs to read the answer. */
export interface SyncContext {
  batch: Pending[];
  /** Uuids of other tabs' saved decisions, which the answer's counts include. */
  counted: string[];
  due: boolean;
  /** Units that came on screen since the last request, or were there when the annotator returned to the page. */
  unconfirmed: string | null;
  want: number;
  visit: number;
  skips: number;
  journey?: number;
  filter?: unknown;
}

/** The last request of a page that is closed, sent without waiting for an answer. */
export interface LastRequest extends Omit<SyncRequest, "lane"> {
  lane: "last";
}

/** A request for the unit of an earlier decision, beside what is under way. */
export interface FetchRequest {
  lane: "aside";
  route: string;
  body: object;
  context: FetchContext;
}

/** The unit is shown or its decision undone if `on` is on screen still. */
export interface FetchContext {
  goal: "look" | "undo" | "open";
  decision: Decision;
  title: string;
  source: "key" | "click";
  on: string | null;
}

export type Effect =
  | { type: "send"; request: Request }
  | { type: "store"; key: string; value: unknown }
  | { type: "tell"; message: Message }
  | { type: "timer"; name: TimerName; ms: number | null };

export type TimerName = "pump" | "retry" | "again" | "look" | "catch-up" | "left";

/** Messages between tabs of one annotator; the shell adds the sender's `tab`. */
export type Message =
  /** A tab answers the first with the second. Both list the decisions that the tab has not sent yet. */
  | { type: "there?" | "here"; waiting: string[] }
  | { type: "bye" }
  | { type: "said"; pending: Pending; unit: Unit | null }
  | { type: "answered"; saved: string[]; refused: string[] }
  | { type: "skipped"; id: string };

/** A further question of the campaign, asked from one grade to another (null: no bound). */
export interface Question {
  name: string;
  sentence: string;
  kind: "grades" | "choice" | "tags";
  required: boolean;
  /** The topics in which it is asked, and has to be answered; in others it is asked on request. Missing: asked in all. */
  required_in?: string[];
  from: number | null;
  to: number | null;
  answers: { value: number | string; label: string; sentence: string }[];
}

/** A decision event's own part: `on` is what was drawn when the key was pressed. */
export interface By extends Viewing {
  on: string | null;
}

/** Every event says when it happened (ms), and brings a new uuid for the decision that it may make. */
export type Event = (
  /** With `asks`, questions that are asked on request follow as well. */
  | ({ type: "decide"; answer: Answer; stay?: boolean; asks?: boolean } & By)
  /** Answers the question on screen; for tags, selects or deselects one. */
  | ({ type: "respond"; value: number | string } & By)
  /** Goes on to the next question with the selected answer or, with `clears`, without one. */
  | ({ type: "pass"; clears?: boolean } & By)
  /** Goes back one question. */
  | { type: "step-back" }
  | ({ type: "mark"; changes: Marks; notice?: string } & By)
  | ({ type: "undo" } & By)
  | { type: "draft"; subject: string; changes: Draft }
  | { type: "tick"; id: string }
  | { type: "skip" }
  | { type: "look"; step: number }
  | { type: "open"; decision: Decision; title: string }
  | { type: "dismiss"; refused: string }
  | { type: "whole"; doc: Doc }
  | { type: "notice"; notice: Notice | null }
  | ({ type: "mount"; questions?: Question[] } & Mount)
  | { type: "unmount" }
  /** Begins the new topic that is shown. */
  | { type: "enter" }
  | { type: "wake" }
  | { type: "beat" }
  /** `new` tells tabs that do not know this one. */
  | { type: "call"; new?: boolean }
  | { type: "leave" }
  | { type: "visible"; visible: boolean }
  | { type: "timer"; name: TimerName }
  | { type: "answer"; request: Request; answer: any }
  | { type: "failure"; request: Request; status: number; detail: string }
  | { type: "message"; tab: string; message: Message }
  | { type: "stored"; name: string; value: any }
  | { type: "topic"; queryId: string }
  | { type: "next-topic" }
  | { type: "take"; queryId: string; doc: Doc; atOnce: boolean }
  | { type: "close-feedback" }
) & { at: number; uuid: string };

/** The machine's handling of an event. */
export type Handler<T extends Event["type"]> = (turn: Turn, event: Extract<Event, { type: T }>) => unknown;

/** Sending: what is under way, and how it failed last. */
export interface Sync {
  running: boolean;
  retrying: boolean;
  failures: number;
  failingSince: number;
  /** HTTP status of the last failure; 0 for no answer, -1 for an unexpected one, null if the last request succeeded. */
  trouble: number | null;
  detail: string;
}

/** State that all kinds of unit share; `scope` is the kind's own. */
export interface State<Scope = any> {
  tab: string;
  order: number;
  mounted: boolean;
  /** True if the server knows that the annotator has left the card. */
  left: boolean;
  /** The topic that the annotator is at: another one waits for a key, unless they ask for it. Null before the first. */
  entered: string | null;
  /** Further questions of the campaign. */
  questions: Question[];
  units: Unit[];
  /** Version of the held documents, from which the server knows whether they have changed. */
  version: string;
  exhausted: boolean;
  requested: string | undefined;
  history: Entry[];
  /** The decision of `history` that is on screen; null for the open unit. */
  look: Entry | null;
  outbox: Pending[];
  otherDecisions: Record<string, OtherDecision>;
  refused: Refusal[];
  drafts: Record<string, Draft>;
  skipped: string[];
  /** Other tabs, and how many calls they have not answered. */
  tabs: Record<string, number>;
  sync: Sync;
  due: boolean;
  wantsRecent: boolean;
  /** The unit on screen that the server does not know of yet. */
  unconfirmed: string | null;
  leftAt: number | null;
  asking: boolean;
  fetching: string | null;
  hasSaved: boolean;
  notice: Notice | null;
  scope: Scope;
}

/** Topics of the card for grades; its units are all of `topic`. */
export interface TopicScope {
  /** Null until they have arrived. */
  topics: Topic[] | null;
  /** The open one. */
  topic: string | null;
  /** Changes with the topic: answers to what was asked before no longer count. */
  visit: number;
  /** The topic that the page was opened for; null for none in particular. */
  requestedTopic: string | null;
  /** The last topic that this browser knows of. */
  here: string | null;
  /** The topic of the newest judgement that this browser knows of. */
  last: string | null;
  /** Topics that had nothing for this annotator. */
  tried: string[];
  /** One that has something, where the open one has nothing. */
  nextTopic: string | null;
  /** The used-up budget because of which nothing is handed out. */
  budget: string;
  /** True if the loop chooses across topics, so that the topic changes often. */
  acrossTopics: boolean;
  /** True if the annotator chose the open topic. */
  chosen: boolean;
  /** The reason why the card opened the topic by itself. */
  why: Notice | null;
  /** True if the card opened it for its qualification set, which is judged first. */
  inQualification: boolean;
  topicsDue: boolean;
  /** True if the topics are fetched only to update their counts. */
  recounts: boolean;
  all: { judged: number; pool: number | null } | null;
  /** Found by searching in other topics. */
  apart: Record<string, Unit[]>;
  /** Where topics follow each other: units of those that come next, in order. */
  ahead: Ahead[];
  /** Changes when topics stop following each other: what was loaded ahead before no longer comes next. */
  journey: number;
}

/** Units of a topic that comes next; `all`: it has no others. */
export interface Ahead {
  queryId: string;
  units: Unit[];
  all: boolean;
}

/** The loop of the open topic. */
export interface LoopScope {
  inLoop: boolean;
  /** The source of the next document, and the judgements that it has learned from. */
  chooser: string[];
  /** Times that the model was behind in a row. */
  looks: number;
  /** The reason why the model cannot choose. */
  problem: string | null;
}

/** State of the card for grades besides its units. */
export interface GradeScope extends TopicScope, LoopScope {
  /** Not sent yet. */
  skips: { query_id: string; doc_id: string }[];
  feedback: QualificationFeedback[] | null;
}

/** State of the cards for lists, preferences and adjudication besides their units. */
/** What a page gives its card: `follows` as in `UnitScope`. */
export interface Mount {
  fresh: boolean;
  requested: string | null;
  filter?: unknown;
  follows?: boolean;
}

export interface UnitScope {
  /** Null until the server has said it. */
  progress: { done: number; goal: number } | null;
  /** The campaign's task as of the last answer. */
  task: string;
  /** Of the units, on the Adjudicate page. */
  filter: unknown;
  /** True if a unit of another topic needs no key to begin, as where topics are answers and sentences. */
  follows: boolean;
}

/** Values that the browser stored on an earlier visit. */
export interface Stored {
  tab: string;
  outbox: Pending[];
  drafts: Record<string, Draft>;
  refused: Refusal[];
  skipped: string[];
  topic?: string | null;
  last?: string | null;
}

/** Differences between kinds of unit. */
export interface Kind<Scope = any> {
  name: string;
  /** Marks of a decision that has none. */
  marks: Marks;
  scope(stored: Stored): Scope;
  title(unit: Unit): string;
  subject(decision: { query_id: string } & About): string;
  unitId(decision: { query_id: string } & About): string;
  /** The name of a unit in the server's `closed`, if it is not its id. */
  closedId?(unit: Unit): string;
  /** Default values of an answer. */
  blank?: Partial<Answer>;
  /** Values of an undone decision. */
  undone?: About;
  /** The subject of the next decision in a unit (null while unknown), or of a given decision. */
  about(unit: Unit, decision: Decision | null): About | null;
  /** The unit after a decision; null if nothing of it is left, as without this. */
  after?(unit: Unit, decision: Decision): Unit | null;
  /** The increase of the number of finished units by a first decision. */
  delta(state: State<Scope>, unit: Unit, after: Unit | null): number;
  /** After a change of an earlier decision. */
  revised?(turn: Turn<Scope>, item: Item): void;
  /** The unit of an undone decision as it is put in front, and what undoing adds to the number of units done. */
  back(turn: Turn<Scope>, entry: Entry & { unit: Unit }): { unit: Unit; delta: number };
  /** A held unit after another tab's decision; null if it goes, as without this. */
  heard?(unit: Unit, decision: Decision): Unit | null;
  /** True if the server has to say how a unit continues. */
  isWaiting?(unit: Unit): boolean;
  /** True if only the open unit is left. */
  isOnly(state: State<Scope>): boolean;
  skip?(turn: Turn<Scope>, unit: Unit): void;
  /** Brings the held units into order after each step. */
  arrange?(turn: Turn<Scope>): void;
  /** True if the card should ask again later because others hold the rest. */
  isBlocked(state: State<Scope>): boolean;
  again(turn: Turn<Scope>): void;
  /** Adds what another tab had saved when a request was sent to the counts of its answer, unless they include it. */
  count(turn: Turn<Scope>, pending: Pending, answer: any): void;
  recorded?(turn: Turn<Scope>, decision: Decision): void;
  next(state: State<Scope>): SyncRequest | null;
  /** Reads an answer; false if it is not what was asked for. */
  take(turn: Turn<Scope>, request: SyncRequest, answer: any): boolean;
  /** True if a refused request needs no other attempt. */
  refused?(turn: Turn<Scope>, request: SyncRequest, failure: { status: number; detail: string }): boolean;
  /** The last request of a page that goes away. */
  last(state: State<Scope>): SyncRequest;
  fetch(decision: Decision): { route: string; body: object };
  fetched(answer: any, decision: Decision): { unit: Unit; decision: Decision };
  mount(turn: Turn<Scope>, event: Mount): void;
  handlers?: Record<string, (turn: Turn<Scope>, event: any) => unknown>;
}

export type { QualificationFeedback, Opinion, PlannedComparison, TopicWords, Turn };
