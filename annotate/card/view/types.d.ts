/** Types of a card's view and of its parts. */

import type { Decision, Item, Kind, Notice, Place, Question } from "../core/types.js";
import type { Own } from "../shell/arrangement.js";
import type { DrawnDocument } from "./document/drawn_document.js";
import type { Segment } from "./document/text.js";
import type { View } from "./frame/view.js";

export type * from "../core/types.js";
export type { Card } from "../shell/card.js";
export type { DocumentAnswer, FoundDocument, NearDuplicate, PastJudgement, TimeAnswer, TopicTime } from "../wire.d.ts";
export type { DrawnDocument, Own, Segment, View };

export interface GradeButton {
  grade: number;
  label: string;
  sentence: string;
}

/** An entry of keys.json. */
export interface KeyEntry {
  key: string;
  label: string;
  help: string;
}

/** Keys that nobody can change: those of grades are listed one by one, those of questions where there are any. */
export interface FixedKey {
  keys: string[];
  help: string;
  scale?: boolean;
  questions?: boolean;
}

/** The data that a page gives its card; see `CardData` in annotate/card/server/card.py. */
export interface CardData {
  campaign: string;
  annotator: string;
  token: string;
  routes: string;
  scale: GradeButton[];
  /** Further questions; missing on cards that do not ask any. */
  questions?: Question[];
  reasons: string[];
  text_cap: number;
  own: Partial<Own> | null;
  query_id: string | null;
  /** The manager's settings. */
  card: { marking?: boolean; near?: boolean; most_chosen?: number; rest_after?: number };
  /** Default keys by action, and the fixed ones. */
  keys: { actions: Record<string, KeyEntry>; fixed: FixedKey[] };
  caps: Record<string, string>;
  filter?: unknown;
  pair?: [queryId: string, docId: string] | null;
  picked?: string;
  /** The name of the task of generated answers; missing elsewhere. */
  task?: string;
  /** Words and phrases of the card in lower case -> their replacements; missing if there are none. */
  words?: Record<string, string>;
  /** Whether the person may open the report of a review. */
  report?: boolean;
  /** Highlighted words, phrases and prefixes* of a review. */
  review_terms?: { include: string[]; exclude: string[] };
}

export type Source = "key" | "click";

/** The reaction to a key; null leaves the key to the browser. */
export type Reaction = (() => unknown) | null;

/** The action of a key or button. Its key, label and help are in keys.json under the same name. */
export interface Action {
  run(source: Source): unknown;
  /** The panel that it opens, and closes again. */
  panel?: string;
  /** Without it, it can always be done; else the key says the `refusal`. */
  when?(): boolean;
  refusal?: string;
  /** Also while a panel covers the document. */
  anywhere?: boolean;
  /** Again and again while its key is held. */
  repeats?: boolean;
}

export interface Pressed {
  key: string;
  digit: number | null;
}

/**
 * A panel of the card; its node is the part `NAME-panel` of the HTML, `focus` and `field` name others in camel case.
 * Where no part has an action of its name, that action opens and closes it.
 */
export interface Panel {
  /** Opens it, in place of showing it as it is. */
  open?(): unknown;
  /** The part that gets the focus when it opens; by default the panel itself. */
  focus?: string;
  /** The document stays in sight, and judging goes on. */
  beside?: boolean;
  /** It opens also while another panel covers the document. */
  anywhere?: boolean;
  /** It is about the unit on screen, and closes with it. */
  isOfUnit?: boolean;
  /** Its text field, and what a key means in it: null to write, undefined for what it means in every field. */
  field?: string;
  inField?(event: KeyboardEvent): Reaction | undefined;
  /** The action of a key elsewhere: null for none, undefined for its usual one. */
  keys?(event: KeyboardEvent, pressed: Pressed): Reaction | undefined;
  /** Draws it while it is open. */
  render?(): void;
  /** After it was closed. */
  left?(): void;
}

/** Adds a listener that goes with the card's nodes. */
export type On = <E extends Event>(
  target: EventTarget,
  type: string,
  react: (event: E) => void,
  options?: AddEventListenerOptions,
) => void;

/**
 * A part of a card: what it can do, and what it draws. A card is a list of parts, which are asked in their order.
 * Everything is optional.
 */
export interface Part {
  actions?: Record<string, Action>;
  /** Actions of buttons without a key, by their `data-do`. */
  clicks?: Record<string, (button: HTMLElement, event: MouseEvent) => unknown>;
  panels?: Record<string, Panel>;
  /** The action of a digit that was typed; null for none. */
  digit?(digit: number): ((source: Source) => unknown) | null;
  /** The action of a key that stands for a whole number; where it is missing, that of the digit. */
  number?(number: number): ((source: Source) => unknown) | null;
  /** The action of a key that no one can change; undefined for none. */
  fixedKey?(key: "Enter" | "Backspace"): Reaction | undefined;
  /** The action of a key where a node of the card has the focus; undefined for its usual one. */
  keyAt?(event: KeyboardEvent, target: HTMLElement): Reaction | undefined;
  /** Escape where no panel is open. */
  stepBack?(): Reaction;
  /** False keeps a click on an action from being carried out. */
  mayClick?(name: string): boolean;
  /** Takes a step of scrolling (see `SCROLL`) in place of the scrolling area; false leaves it to that. */
  scrolls?(step: number): boolean;
  /** Called each time that the card is attached to its nodes; gives the clean-up. */
  attach?(on: On): (() => void) | undefined;
  /** Draws; `turned` says that something else is on screen than at the last call. Compares first: it is called often. */
  render?(item: Item | null, turned: boolean): void;
  /** Once more after everything is drawn and the clock runs. */
  rendered?(item: Item | null, turned: boolean): void;
}

/** A text and the places of the topic's words in it. */
export interface Marked {
  terms: Place[];
  segments: Segment[];
}

/** The part that draws the documents, with the places of the topic's words and the nodes that scroll. */
export interface Main extends Part {
  marked(): Marked[];
  places: HTMLElement[];
}

/** A scrolling area: one node, or several that scroll as one. */
export interface Scroller {
  node?: HTMLElement;
  clientHeight: number;
  scrollHeight: number;
  scrollBy(x: number, y: number): void;
}

/** A title and a sentence for each reason why nothing is open. */
export type Texts = Record<"nothing" | "done" | "busy", string[]>;

/** Differences between cards besides their parts. */
export interface Face {
  kind: Kind;
  /** Added to the prefix of the browser's storage. */
  place: string;
  /** Noun for a number of decisions: judgement, choice, preference, adjudication. */
  noun: string;
  parts(view: View): Part[];
  /** Parts that only some campaigns have. */
  more?(view: View, drawn: DrawnDocument): Part[];
  scroller(view: View): Scroller;
  /** The unit that the page requests when it is opened; null for none. */
  requested(view: View, data: CardData, fresh: boolean): string | null;
  /** A decision in a few words. */
  words(view: View, decision: Decision): string;
  /** Sentences of its own for notices. */
  notices?: Record<string, (view: View, notice: Notice) => string>;
  /** A unit takes several decisions, so that the last one is announced. */
  several?: boolean;
  /** Noun for a unit: document, topic or pair. */
  one: string;
  /** Description of the screen for screen readers. */
  heard(view: View, item: Item): string;
}

/** The card's nodes by `data-part` in camel case. */
export interface Nodes {
  [name: string]: HTMLElement;
}
