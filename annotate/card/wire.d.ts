// Written by `make wire` from annotate/card/server/*wire.py: do not edit.

/**
 * An adjudicated grade.
 *
 * Refused if another manager has adjudicated the pair meanwhile, if annotators do not differ on it, or if its document
 * has no text yet.
 */
export interface AdjudicationDecision {
  uuid: string;
  query_id: string;
  /** Why it cannot be judged. */
  reason: string | null;
  note: string | null;
  shown_at: string | null;
  /** At work on it. */
  seconds: number;
  /** The other seconds since it was shown. */
  away: number;
  source: "key" | "click";
  doc_id: string;
  kind: "graded" | "cannot judge" | "undone";
  /** Null unless `kind` is "graded". */
  relevance: number | null;
  /** To further questions; [] confirms that no tag applies. */
  answers?: Record<string, number | string | string[]>;
}

/** A pair with its opinions, lowest grade first. */
export interface AdjudicationUnit {
  topic: TopicWords;
  /** One. */
  documents: DocumentPayload[];
  opinions: Opinion[];
  former: PastAdjudication | null;
}

/** The answer around a sentence whose support is judged. */
export interface AnswerAround {
  sentences: string[];
  /** Number of the judged sentence, from 0. */
  at: number;
}

/** A document with its whole text. */
export interface DocumentAnswer {
  doc_id: string;
  title: string;
  form: "text" | "preformatted" | "markup";
  /** Plain in every form, cut if `truncated`; null where the campaign has none. */
  text: string | null;
  /** For "markup" that is not cut: safe to draw, with `text` as its textContent. */
  html: string | null;
  /** Of the whole text. */
  length: number;
  truncated: boolean;
  /** The document's other fields. */
  metadata: Record<string, unknown>;
  images: Image[];
  pdf?: Pdf;
  /** Message shown instead of an empty text. */
  no_text?: string;
  /** Full text without a PDF file: address of the publication, or "". */
  no_pdf?: string;
  /** Of a folded long text, in order: start and end in the whole, words. */
  excerpts: [number, number, string][] | null;
  /** Places of the topic's words in what is sent, in order and apart; at most 5,000. */
  terms: [number, number][];
  /** The same for the title. */
  title_terms: [number, number][];
  /** For a nugget: start and end of each sentence in `text`, the answer. */
  sentences?: [number, number][];
  /** For a nugget: all nuggets of the answer, in their order. */
  nuggets?: ListedNugget[];
  /** For a cited document. */
  answer?: AnswerAround;
  /** For a cited document: passages that match the sentence, best first. */
  best?: [number, number][];
  /** Everybody judges this document for the topic. */
  qualification?: boolean;
  /** Only if the manager shows labels; the server records that it was seen. */
  label?: MachineLabel;
  /** The annotator's judgement: it is to be completed, or was asked for. */
  said?: SaidJudgement | null;
}

/** A document as the annotator sees it, without a word on how it came into the pool. */
export interface DocumentPayload {
  doc_id: string;
  title: string;
  form: "text" | "preformatted" | "markup";
  /** Plain in every form, cut if `truncated`; null where the campaign has none. */
  text: string | null;
  /** For "markup" that is not cut: safe to draw, with `text` as its textContent. */
  html: string | null;
  /** Of the whole text. */
  length: number;
  truncated: boolean;
  /** The document's other fields. */
  metadata: Record<string, unknown>;
  images: Image[];
  pdf?: Pdf;
  /** Message shown instead of an empty text. */
  no_text?: string;
  /** Full text without a PDF file: address of the publication, or "". */
  no_pdf?: string;
  /** Of a folded long text, in order: start and end in the whole, words. */
  excerpts: [number, number, string][] | null;
  /** Places of the topic's words in what is sent, in order and apart; at most 5,000. */
  terms: [number, number][];
  /** The same for the title. */
  title_terms: [number, number][];
  /** For a nugget: start and end of each sentence in `text`, the answer. */
  sentences?: [number, number][];
  /** For a nugget: all nuggets of the answer, in their order. */
  nuggets?: ListedNugget[];
  /** For a cited document. */
  answer?: AnswerAround;
  /** For a cited document: passages that match the sentence, best first. */
  best?: [number, number][];
  /** Everybody judges this document for the topic. */
  qualification?: boolean;
  /** Only if the manager shows labels; the server records that it was seen. */
  label?: MachineLabel;
  /** The annotator's judgement: it is to be completed, or was asked for. */
  said?: SaidJudgement | null;
}

/** Ask for a whole document; the topic chooses its excerpts. */
export interface DocumentRequest {
  doc_id: string;
  query_id?: string | null;
  /** Also answer the annotator's judgement for the topic, which is required then. */
  said?: boolean;
}

/** A judgement that was replaced or undone. */
export interface EarlierJudgement {
  kind: "graded" | "cannot judge" | "undone";
  relevance: number | null;
  judged_at: string;
  /** To further questions, if there are any. */
  answers?: Record<string, number | string | string[]>;
}

/** Reason for which a request was refused, with the status. */
export interface ErrorAnswer {
  error: string;
}

/** A result of a search. */
export interface FoundDocument {
  doc_id: string;
  title: string;
  /** U+0002 and U+0003 enclose the words. */
  snippet: string;
  judged: boolean;
  relevance: number | null;
}

/** The guidelines as safe HTML, and the manager's notes by topic. */
export interface GuidelinesAnswer {
  html: string;
  notes: Record<string, string>;
}

/** Ask for the guidelines. */
export interface GuidelinesRequest {}

/** Current content of a document that the card holds. */
export interface HeldDocument {
  doc_id: string;
  title: string;
  form: "text" | "preformatted" | "markup";
  /** Plain in every form, cut if `truncated`; null where the campaign has none. */
  text: string | null;
  /** For "markup" that is not cut: safe to draw, with `text` as its textContent. */
  html: string | null;
  /** Of the whole text. */
  length: number;
  truncated: boolean;
  /** The document's other fields. */
  metadata: Record<string, unknown>;
  images: Image[];
  pdf?: Pdf;
  /** Message shown instead of an empty text. */
  no_text?: string;
  /** Full text without a PDF file: address of the publication, or "". */
  no_pdf?: string;
  /** Of a folded long text, in order: start and end in the whole, words. */
  excerpts: [number, number, string][] | null;
  /** Places of the topic's words in what is sent, in order and apart; at most 5,000. */
  terms: [number, number][];
  /** The same for the title. */
  title_terms: [number, number][];
  /** For a nugget: start and end of each sentence in `text`, the answer. */
  sentences?: [number, number][];
  /** For a nugget: all nuggets of the answer, in their order. */
  nuggets?: ListedNugget[];
  /** For a cited document. */
  answer?: AnswerAround;
  /** For a cited document: passages that match the sentence, best first. */
  best?: [number, number][];
  /** Everybody judges this document for the topic. */
  qualification?: boolean;
  /** Only if the manager shows labels; the server records that it was seen. */
  label?: MachineLabel;
  /** The annotator's judgement: it is to be completed, or was asked for. */
  said?: SaidJudgement | null;
  query_id: string;
}

/** Judgements, newest first; `more`: there are older ones. */
export interface HistoryAnswer {
  entries: PastJudgement[];
  more: boolean;
}

/** Ask for the annotator's judgements that meet all conditions. */
export interface HistoryRequest {
  query_id?: string | null;
  /** Or "cannot judge" or "flagged". */
  grade?: number | string | null;
  words?: string | null;
  /** The id of the last entry that the card has. */
  before?: number | null;
  limit?: number;
}

/** An image of a document. */
export interface Image {
  src: string;
  alt: string;
  /** Only a link is drawn, since the manager has not allowed the host. */
  link: boolean;
}

/** A grade; "undone" takes the pair's judgement back. */
export interface JudgementDecision {
  uuid: string;
  query_id: string;
  /** Why it cannot be judged. */
  reason: string | null;
  note: string | null;
  shown_at: string | null;
  /** At work on it. */
  seconds: number;
  /** The other seconds since it was shown. */
  away: number;
  source: "key" | "click";
  doc_id: string;
  kind: "graded" | "cannot judge" | "undone";
  /** Null unless `kind` is "graded". */
  relevance: number | null;
  /** To further questions; [] confirms that no tag applies. */
  answers?: Record<string, number | string | string[]>;
  flagged: boolean;
  /** The server leaves out further ones. */
  passages: [number, number][];
}

/** The documents chosen from a list. */
export interface ListDecision {
  uuid: string;
  query_id: string;
  /** Why it cannot be judged. */
  reason: string | null;
  note: string | null;
  shown_at: string | null;
  /** At work on it. */
  seconds: number;
  /** The other seconds since it was shown. */
  away: number;
  source: "key" | "click";
  kind: "chosen" | "cannot judge" | "undone";
  /** Ids in display order; empty for "undone". */
  shown: string[];
  /** Empty for "chosen" means none of these. */
  chosen: string[];
}

/** A topic whose documents are chosen from; after a decision, the documents are those shown then. */
export interface ListUnit {
  topic: TopicWords;
  /** In display order, cut after 4,000 characters. */
  documents: DocumentPayload[];
  former: PastListDecision | null;
}

/** A nugget of an answer, as a document of the task of nugget assignment. */
export interface ListedNugget {
  doc_id: string;
  title: string;
}

/** A label of a pair that no person gave. */
export interface MachineLabel {
  label_set: string;
  relevance: number;
}

/** Near-duplicates by document, the most similar first. */
export interface NearAnswer {
  near: Record<string, NearDuplicate[]>;
  /** Some are not compared yet: ask again some seconds later. */
  more: boolean;
}

/** A near-duplicate of a document. */
export interface NearDuplicate {
  doc_id: string;
  title: string;
  /** From 0 to 1. */
  similarity: number;
  said: SaidGrade | null;
}

/** Ask for near-duplicates of documents among themselves and among the annotator's judged ones of the topic. */
export interface NearRequest {
  query_id: string;
  doc_ids: string[];
}

/** A change to one of the annotator's nuggets, made while documents are judged. */
export interface NuggetEdit {
  uuid: string;
  kind: "add" | "change" | "delete";
  /** To change or delete: its id, or the uuid of the edit that adds it. */
  nugget?: string;
  text?: string;
  importance?: "vital" | "okay" | "";
  sources?: NuggetSource[];
}

/** A passage that contains a nugget; without start and end, the whole document. */
export interface NuggetSource {
  doc_id: string;
  start: number | null;
  end: number | null;
}

/** The uuids of saved edits, refused ones, and the annotator's nuggets in their order. */
export interface NuggetsAnswer {
  saved: string[];
  refused: Refused[];
  nuggets: OwnNugget[];
}

/** Save edits of nuggets, then ask for the annotator's nuggets of a topic. */
export interface NuggetsRequest {
  query_id: string;
  edits?: NuggetEdit[];
}

/** One annotator's judgement of the pair. */
export interface Opinion {
  kind: "graded" | "cannot judge" | "undone";
  relevance: number | null;
  reason: string | null;
  note: string | null;
  flagged: boolean;
  passages: [number, number][];
  /** To further questions, if there are any. */
  answers?: Record<string, number | string | string[]>;
  annotator: string;
  /** The texts of `passages`. */
  quotes: string[];
  seconds: number | null;
  judged_at: string | null;
}

/** A current nugget that the annotator alone made. */
export interface OwnNugget {
  nugget: string;
  /** The uuid of the edit that added it; "" if it was split from another nugget. */
  added: string;
  text: string;
  importance: "vital" | "okay" | "";
  sources: NuggetSource[];
}

/** A topic and a document. */
export interface Pair {
  query_id: string;
  doc_id: string;
}

/** Filter of the pairs to adjudicate; see :func:`collection.adjudication.filter_queue`. */
export interface PairFilter {
  why?: string | null;
  query_id?: string | null;
  distance?: number | null;
  names?: string[];
  question?: string | null;
}

/** The manager's current adjudication of a pair. */
export interface PastAdjudication {
  uuid: string | null;
  query_id: string;
  reason: string | null;
  note: string | null;
  judged_at: string | null;
  /** Of a recent decision: that of its topic or, for adjudication, its document. */
  title?: string;
  doc_id: string;
  kind: "graded" | "cannot judge" | "undone";
  relevance: number | null;
  /** To further questions, if there are any. */
  answers?: Record<string, number | string | string[]>;
}

/** A current judgement of the annotator. */
export interface PastJudgement {
  kind: "graded" | "cannot judge" | "undone";
  relevance: number | null;
  reason: string | null;
  note: string | null;
  flagged: boolean;
  passages: [number, number][];
  /** To further questions, if there are any. */
  answers?: Record<string, number | string | string[]>;
  id: number;
  query_id: string;
  /** Its title. */
  topic: string;
  doc_id: string;
  title: string;
  judged_at: string;
  /** Of the same pair, newest first. */
  former: EarlierJudgement[];
}

/** The annotator's decision on a list. */
export interface PastListDecision {
  uuid: string | null;
  query_id: string;
  reason: string | null;
  note: string | null;
  judged_at: string | null;
  /** Of a recent decision: that of its topic or, for adjudication, its document. */
  title?: string;
  kind: "chosen" | "cannot judge" | "undone";
  shown: string[];
  chosen: string[];
}

/** The annotator's decision on two documents. */
export interface PastPreferenceDecision {
  uuid: string | null;
  query_id: string;
  reason: string | null;
  note: string | null;
  judged_at: string | null;
  /** Of a recent decision: that of its topic or, for adjudication, its document. */
  title?: string;
  kind: "left" | "right" | "equal" | "cannot judge" | "undone";
  left: string;
  right: string;
}

/** The PDF file of a document. */
export interface Pdf {
  /** Address to open in a tab; a file that was not checked for scripts is only downloaded. */
  file: string;
  /** Address for the browser's viewer; null if it must not be shown. */
  shown: string | null;
  pages: number;
  /** Of the first page, in points, as its height. */
  width: number;
  height: number;
}

/**
 * The comparisons of a topic.
 *
 * The plan of the first topic in hand looks some answers ahead, that of the others one. For decisions that it has not
 * sent yet, a card follows `then[kind]` from `next`; where that ends, it sends them and waits for the next plan.
 */
export interface Plan {
  next: PlannedComparison;
  /** Pairs. */
  done: number;
  /** Pairs, an upper bound, which falls. */
  expected: number;
}

/** A comparison, and what follows each answer, so that no key waits for the network. */
export interface PlannedComparison {
  /** Left and right; null: the topic is decided. */
  pair: [string, string] | null;
  /** For left, right, equal, cannot judge; missing: ask. */
  then?: Partial<Record<"left" | "right" | "equal" | "cannot judge" | "undone", PlannedComparison>>;
}

/** The better one of two documents, which may be named the other way round than in the plan. */
export interface PreferenceDecision {
  uuid: string;
  query_id: string;
  /** Why it cannot be judged. */
  reason: string | null;
  note: string | null;
  shown_at: string | null;
  /** At work on it. */
  seconds: number;
  /** The other seconds since it was shown. */
  away: number;
  source: "key" | "click";
  kind: "left" | "right" | "equal" | "cannot judge" | "undone";
  left: string;
  right: string;
}

/** A topic whose documents are compared. */
export interface PreferenceUnit {
  topic: TopicWords;
  /** Cut after 4,000 characters. */
  documents: DocumentPayload[];
  plan: Plan;
  former: PastPreferenceDecision[];
}

/** Judged pairs, and those to judge; `pool` is null in loops over the whole collection, and topics with a budget. */
export interface Progress {
  judged: number;
  pool: number | null;
}

/** The annotator's grade of a pair of the qualification set (null: cannot judge), and the adjudicated one. */
export interface QualificationFeedback {
  uuid: string;
  query_id: string;
  doc_id: string;
  title: string;
  relevance: number | null;
  settled: number;
  /** The adjudicator's. */
  note: string | null;
}

/** A judged document with the annotator's judgement. */
export interface RecentJudgement {
  doc_id: string;
  title: string;
  form: "text" | "preformatted" | "markup";
  /** Plain in every form, cut if `truncated`; null where the campaign has none. */
  text: string | null;
  /** For "markup" that is not cut: safe to draw, with `text` as its textContent. */
  html: string | null;
  /** Of the whole text. */
  length: number;
  truncated: boolean;
  /** The document's other fields. */
  metadata: Record<string, unknown>;
  images: Image[];
  pdf?: Pdf;
  /** Message shown instead of an empty text. */
  no_text?: string;
  /** Full text without a PDF file: address of the publication, or "". */
  no_pdf?: string;
  /** Of a folded long text, in order: start and end in the whole, words. */
  excerpts: [number, number, string][] | null;
  /** Places of the topic's words in what is sent, in order and apart; at most 5,000. */
  terms: [number, number][];
  /** The same for the title. */
  title_terms: [number, number][];
  /** For a nugget: start and end of each sentence in `text`, the answer. */
  sentences?: [number, number][];
  /** For a nugget: all nuggets of the answer, in their order. */
  nuggets?: ListedNugget[];
  /** For a cited document. */
  answer?: AnswerAround;
  /** For a cited document: passages that match the sentence, best first. */
  best?: [number, number][];
  /** Everybody judges this document for the topic. */
  qualification?: boolean;
  /** Only if the manager shows labels; the server records that it was seen. */
  label?: MachineLabel;
  /** The annotator's judgement: it is to be completed, or was asked for. */
  said?: SaidJudgement | null;
  kind: "graded" | "cannot judge" | "undone";
  relevance: number | null;
  reason: string | null;
  note: string | null;
  flagged: boolean;
  passages: [number, number][];
  /** To further questions, if there are any. */
  answers?: Record<string, number | string | string[]>;
  query_id: string;
}

/** A decision that was not saved, and why. */
export interface Refused {
  uuid: string;
  reason: string;
}

/** The annotator's grade of a document. */
export interface SaidGrade {
  kind: "graded" | "cannot judge" | "undone";
  relevance: number | null;
  reason: string | null;
}

/** The annotator's judgement of a document. */
export interface SaidJudgement {
  kind: "graded" | "cannot judge" | "undone";
  relevance: number | null;
  reason: string | null;
  note: string | null;
  flagged: boolean;
  passages: [number, number][];
  /** To further questions, if there are any. */
  answers?: Record<string, number | string | string[]>;
}

/** Results, best first. */
export interface SearchAnswer {
  documents: FoundDocument[];
  more: boolean;
  /** If only some of the documents that match were ranked, how many: 0 if none. */
  ranked: number | null;
}

/** Search the collection for documents to judge. */
export interface SearchRequest {
  query_id: string;
  /** A document's id, or words that must all occur. */
  words: string;
}

/** Nothing. */
export interface SettingsAnswer {}

/** Keep how the annotator has arranged the card. */
export interface SettingsRequest {
  settings: Record<string, unknown>;
}

/** Saved decisions, and the next documents of the topic. */
export interface SyncAnswer {
  saved: string[];
  refused: Refused[];
  /** Those of `saved` whose pair had enough judgements: logged, and not counted. */
  surplus: string[];
  feedback: QualificationFeedback[];
  query_id?: string;
  documents: DocumentPayload[];
  /** Those of `holding` that need no judgement any more, or that others have taken over. */
  closed: string[];
  /** Changes with the content of documents and with how they are shown. */
  version?: string;
  /** Documents of `holding`, if they may have changed since the version. */
  changed?: HeldDocument[];
  /** A topic whose qualification set has to be judged before anything is handed out. */
  first?: string | null;
  /** In the loop: all that is to be held from now on. */
  order?: string[];
  /** In the loop: the round that the order is from. */
  model_round?: number | null;
  /** In the loop: a newer order is on its way, ask again. */
  behind?: boolean;
  /** In the loop: why the last round failed. */
  problem?: string | null;
  /** In the loop: what chooses the next document; what it has learned from. */
  chooser?: [string, string];
  /** In the loop: it chooses across topics, and the card changes topics often. */
  across_topics?: boolean;
  /** Where the topic has nothing left: one that has, and is not in `tried`. */
  next?: string | null;
  /** In tasks of generated answers: `next` opens without a request. */
  goes_on?: boolean;
  /** In these tasks: documents of topics after those of the request. */
  ahead?: TopicAhead[];
  /** With `next`: the budget that is used up; "" if none is. */
  budget?: string;
  /** Newest first. */
  recent?: RecentJudgement[];
  progress: SyncProgress;
}

/** Progress in the topic asked for and in all topics of the annotator. */
export interface SyncProgress {
  all: Progress;
  topic?: Progress;
}

/** Save judgements, then ask for documents of a topic; without `query_id`, only save. */
export interface SyncRequest {
  decisions?: JudgementDecision[];
  /** Those that were never handed out to the annotator have no effect. */
  skips?: Pair[];
  query_id?: string | null;
  holding?: string[];
  /** New documents wanted; in the loop at least 1, since each judgement may change the order. */
  want?: number;
  /** Also answer the latest judgements of the topic. */
  recent?: boolean;
  /** False: another card of the annotator is open, and keeps its documents. */
  alone?: boolean;
  /** Topics that `next` must not name. */
  tried?: string[];
  /** Names of the further questions that the card asks. */
  questions?: string[];
  /** The annotator leaves the page: only save, and end what is reserved for them. */
  leave?: boolean;
  /** Version in the last response; "none" before the first. */
  version?: string;
  /** Later topics whose documents the card holds, in order. */
  ahead?: string[];
}

/** Take a document that was found, to be judged next. */
export interface TakeRequest {
  query_id: string;
  doc_id: string;
}

/** The annotator's working time. */
export interface TimeAnswer {
  today: Work;
  /** Without a long pause, until now. */
  session: Work;
  /** When the session began, if there is one. */
  since: string | null;
  pace: string;
  /** Seconds at work since the last break of five minutes. */
  since_break: number;
  /** Started ones first, finished ones last. */
  topics: TopicTime[];
  /** Further topics. */
  others: number;
  /** How much is left, and for how long. */
  left: string;
}

/** Ask for the annotator's working time. */
export interface TimeRequest {
  /** The start of their day, with its offset from UTC. */
  day?: string | null;
}

/** A new token. */
export interface TokenAnswer {
  token: string;
}

/** Ask for a new token by the browser's sign-in cookie. */
export interface TokenRequest {
  annotator: string;
}

/** Documents of a later topic, so that it opens at once where topics follow each other. */
export interface TopicAhead {
  query_id: string;
  documents: DocumentPayload[];
  /** The topic has no other documents for the annotator. */
  all: boolean;
}

/** A field of a topic, as text, that is shown on request. */
export interface TopicField {
  name: string;
  text: string;
}

/** A topic of the annotator with its progress. */
export interface TopicPayload {
  query_id: string;
  title: string;
  /** Name of the stage in lists of topics; only in a review. */
  stage?: string;
  description: string;
  narrative: string;
  /** Oldest first. */
  turns?: TopicTurn[];
  fields?: TopicField[];
  /** Documents to judge; null in a loop over the whole collection or with a budget. */
  pool: number | null;
  judged: number;
  /** Pooled documents that are held back until their text is imported. */
  without_text: number;
  /** Judged before the others, because it calibrates the stopping rule. */
  first?: boolean;
  /** For answers and sentences: place of the shared description in `questions`. */
  asks?: number;
}

/** A topic with the annotator's judgements, in words. */
export interface TopicTime {
  query_id: string;
  title: string;
  words: string;
}

/** A turn of the conversation before the question. */
export interface TopicTurn {
  /** "" if the file does not say who. */
  speaker: string;
  text: string;
}

/** The topic of a unit. */
export interface TopicWords {
  query_id: string;
  title: string;
  /** Name of the stage in lists of topics; only in a review. */
  stage?: string;
  description: string;
  narrative: string;
  /** Oldest first. */
  turns?: TopicTurn[];
  fields?: TopicField[];
  /** The manager's, for annotators; "" if there is none. */
  note: string;
}

/** The annotator's topics in the campaign's order. */
export interface TopicsAnswer {
  topics: TopicPayload[];
  /** Descriptions that several topics share. */
  questions?: string[];
  /** The topic of the annotator's newest judgement. */
  last: string | null;
  /** The first topic that has documents for them. */
  work: string | null;
}

/** Ask for the annotator's topics. */
export interface TopicsRequest {
  /** As for `sync`. */
  questions?: string[];
}

/** Topics of the annotator, or pairs of the filter, without those whose document has no text. */
export interface UnitProgress {
  done: number;
  goal: number;
}

/** Decisions with a title, newest first, without undone ones. */
export interface UnitRecentAnswer {
  decisions: PastListDecision[] | PastPreferenceDecision[] | PastAdjudication[];
}

/** Ask for the annotator's latest decisions. */
export interface UnitRecentRequest {
  limit?: number;
}

/** Ask for a unit, to decide it again: a pair, or a topic that is or was the annotator's; 400 for any other. */
export interface UnitRequest {
  unit: string;
}

/** Saved decisions, and the next units; pairs that another manager holds come last. */
export interface UnitSyncAnswer {
  /** The campaign's now; if not the card's, the page has to be reloaded. */
  task: "grades" | "list" | "preference" | "adjudication";
  saved: string[];
  refused: Refused[];
  units: (ListUnit | PreferenceUnit | AdjudicationUnit)[];
  /** Of topics with a saved decision and the first held; without decisions, all. */
  plans?: Record<string, Plan>;
  /** Held units that need no decision or were taken over: drop those without work in progress. */
  closed: string[];
  /** As for grades. */
  version?: string;
  /** As for grades: documents of the held units. */
  changed?: HeldDocument[];
  /** Nothing more is open to the annotator now. */
  exhausted: boolean;
  /** Missing for adjudication where nothing but decisions was sent: see `due`. */
  progress?: UnitProgress;
}

/** Save decisions, then ask for units. Without wants and while reservations are young, only decisions are saved. */
export interface UnitSyncRequest {
  decisions?: (ListDecision | PreferenceDecision | AdjudicationDecision)[];
  /** Units that the card holds; the first is on screen. */
  holding?: string[];
  want?: number;
  /** Adjudication: answer `closed` and `progress` even if decisions are sent and nothing else. */
  due?: boolean;
  /** Adjudication. */
  filter?: PairFilter | null;
  /** As for grades. */
  leave?: boolean;
  /** As for grades. */
  version?: string;
}

/** Reasons for which a document was proposed, as far as the manager shows it to annotators. */
export interface WhyAnswer {
  sentence: string;
  /** Weights from -1 (against) to 1 (for). */
  terms: [string, number][];
  /** The model is being trained: ask again. */
  behind?: boolean;
}

/** Ask why a document was proposed. */
export interface WhyRequest {
  query_id: string;
  doc_id: string;
}

/** A number of judgements, and the time at work and away, in words. */
export interface Work {
  judgements: number;
  active: string;
  away: string;
}

/** Request and answer of each route, by path. */
export interface Routes {
  topics: { request: TopicsRequest; answer: TopicsAnswer };
  sync: { request: SyncRequest; answer: SyncAnswer };
  document: { request: DocumentRequest; answer: DocumentAnswer };
  why: { request: WhyRequest; answer: WhyAnswer };
  search: { request: SearchRequest; answer: SearchAnswer };
  take: { request: TakeRequest; answer: DocumentPayload };
  guidelines: { request: GuidelinesRequest; answer: GuidelinesAnswer };
  history: { request: HistoryRequest; answer: HistoryAnswer };
  near: { request: NearRequest; answer: NearAnswer };
  time: { request: TimeRequest; answer: TimeAnswer };
  settings: { request: SettingsRequest; answer: SettingsAnswer };
  nuggets: { request: NuggetsRequest; answer: NuggetsAnswer };
  token: { request: TokenRequest; answer: TokenAnswer };
  "list/sync": { request: UnitSyncRequest; answer: UnitSyncAnswer };
  "preference/sync": { request: UnitSyncRequest; answer: UnitSyncAnswer };
  "adjudication/sync": { request: UnitSyncRequest; answer: UnitSyncAnswer };
  "list/recent": { request: UnitRecentRequest; answer: UnitRecentAnswer };
  "preference/recent": { request: UnitRecentRequest; answer: UnitRecentAnswer };
  "adjudication/recent": { request: UnitRecentRequest; answer: UnitRecentAnswer };
  "list/unit": { request: UnitRequest; answer: ListUnit | PreferenceUnit | AdjudicationUnit };
  "preference/unit": { request: UnitRequest; answer: ListUnit | PreferenceUnit | AdjudicationUnit };
  "adjudication/unit": { request: UnitRequest; answer: ListUnit | PreferenceUnit | AdjudicationUnit };
}
