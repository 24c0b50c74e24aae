// The lines above and below the buttons: what was just done, what is not saved yet, what the server refused.

/** @import { Notice, Part, Refusal, View } from "../types.js" */

import { causeOf, Failure } from "../../shell/network.js";
import { heardQuestion } from "../units/question_words.js";
import { byInput } from "./keys.js";
import { apart, cut, make, smallButton } from "./nodes.js";
import { asSentence, count, plural } from "./phrases.js";

/** Ms without a connection after which the card says so. */
const OFFLINE_AFTER = 3_000;

/** Ms until a screen reader hears what was done: fast keys are not read one by one. */
const PAUSE_ALOUD = 250;

export const ONE_MOMENT = "Loading …";

/** The text shown when nothing is left to decide without a connection. @type {[title: string, words: string]} */
export const CUT_OFF = [
  "No connection",
  "Everything that was loaded is done and kept in this browser. Judging continues when the server can be reached again.",
];

/** Says why nothing is on screen. @param {View} view @param {readonly string[] | null} words null while something is */
export function drawRest(view, words) {
  view.setHidden("rest", !words);
  for (const [i, name] of ["restTitle", "restWords"].entries())
    if (words) view.setText(name, view.words(words[i] ?? ""));
}

/** @param {View} view */
const isFailing = ({ state: { sync } }) => sync.failures > 0 && Date.now() - sync.failingSince >= OFFLINE_AFTER;

/** True if there has been no connection for a while. @param {View} view */
export const isCutOff = (view) => view.state.sync.trouble === 0 && isFailing(view);

/** The effect of a key as part of a sentence; "" if the action has no key. @param {View} view @param {"undo" | "forward"} name @param {string} before */
export function keyHint(view, name, before) {
  const key = view.keys.hint(name);
  return key && `${before}${key} to ${name === "undo" ? "undo" : "go forward"}`;
}

/** A notice's decision in a few words. @param {View} view @param {Notice["decision"]} decision */
export const said = (view, decision) => (decision ? view.face.words(view, decision) : "");

/** What became of an earlier decision that was left before its last answer. @param {Notice["discarded"]} discarded */
export const discardedWords = (discarded) => (discarded ? "Not changed: answers were missing. " : "");

/** The reason why nothing can be decided. @param {View} view */
const nothingHere = ({ face, texts, words }) =>
  texts.restTitle === ONE_MOMENT
    ? words(`The next ${face.one} is loading.`)
    : words(`There is no ${face.one} on screen.`);

/** @param {Notice} notice */
const cause = ({ status = -1, detail = "" }) => causeOf(new Failure(status, detail));

/**
 * The sentences of notices; a card adds its own or replaces these. Those that begin with a colon follow a title.
 *
 * @type {NonNullable<import("../types.js").Face["notices"]>}
 */
const SENTENCES = {
  words: (_, { words = "" }) => words,
  decided: (view, { decision, revised }) =>
    `: ${said(view, decision)}${revised ? ", revised" : ""}${keyHint(view, "undo", " – ")}`,
  undone: (view, { decision }) => `: ${said(view, decision)}, undone`,
  "looking-back": (view, { decision, discarded }) =>
    `: ${said(view, decision)}${discarded ? "; the change before was not finished" : ""} – answer again to change it${keyHint(view, "forward", ", ")}`,
  unfinished: (view, { decision }) => `: ${said(view, decision)} – not saved yet`,
  "main-question": ({ words }) => words(": grade it again; nothing is saved yet"),
  "answer-required": () => "This question needs an answer.",
  "forward-to-open": (_, { discarded }) => `${discardedWords(discarded)}Back to the first undecided one.`,
  "nothing-here": (view) =>
    view.waiting
      ? view.words`Not recorded: this is a new topic. ${byInput("Press Enter to begin.", "Tap the button to begin.")}`
      : nothingHere(view),
  "nothing-to-undo": () => "Nothing to undo.",
  "no-earlier": () => "No earlier decisions.",
  "only-one": ({ face, words }) => words(`This is the only ${face.one} left.`),
  "already-decided": (view) => `This is already decided${keyHint(view, "forward", ": press ")}.`,
  "just-changed": () => "Not recorded: the screen had just changed. Try again.",
  skipped: () => ": skipped; it comes back after the others",
  "skipped-in-another-tab": () => ": skipped in another tab",
  "decided-in-another-tab": () => ": decided in another tab",
  "closed-elsewhere": () => ": no longer needs a decision",
  loading: () => ONE_MOMENT,
  "cannot-load": (_, notice) => `It could not be loaded: ${cause(notice)}.`,
  "cannot-show-requested": ({ face, words }, notice) =>
    `${words(`The requested ${face.one}`)} cannot be shown: ${cause(notice)}.`,
  note: (_, { on }) => (on ? ": note saved" : ": note removed"),
};

/** The reason why nothing is sent. @param {View} view */
function troubleOf({ state: { sync } }) {
  const { trouble, detail } = sync;
  if (trouble === 0) return "No connection";
  if (trouble === -1) return "The server sent an unexpected answer";
  if (trouble === 403 && detail) return asSentence(detail);
  return `Server error (${trouble}${detail && `, ${detail}`})`;
}

/** The state of unsent decisions. @param {View} view @returns {["saved" | "waiting" | "problem", string]} */
function statusOf(view) {
  const { outbox, hasSaved, sync } = view.state;
  const { trouble, detail, failures } = sync;
  const { fails, unread } = view.card.storage;
  const n = outbox.length;
  const waiting =
    n && `${view.words(count(n, view.face.noun))} ${plural(n, "is", "are")} kept in this ${fails ? "tab" : "browser"}`;
  if (trouble === 401) {
    const why = !detail || detail === "not signed in" ? "reload this page to sign in again" : detail.replace(/\.$/, "");
    return ["problem", `You are signed out: ${why}.${waiting ? ` ${waiting}.` : ""}`];
  }
  if (isFailing(view) || (trouble !== null && trouble >= 400 && trouble < 500))
    return ["problem", `${troubleOf(view)}: ${waiting ? `${waiting} and will be sent` : "trying again"}`];
  const words = n ? `${n} not saved yet` : hasSaved ? "Saved" : "";
  const warning = "This browser cannot store unsent answers: keep this tab open until everything is saved.";
  if (fails) return ["problem", `${words && `${words}. `}${warning}`];
  const lost = `${view.words(count(unread, `unsent ${view.face.noun}`))} in this browser cannot be read and will not be sent: tell a manager.`;
  if (unread) return ["problem", `${words && `${words}. `}${lost}`];
  return [n || failures ? "waiting" : "saved", words];
}

/** The words of a notice: what leads to its title, the title, and what is said of it. @param {View} view @param {Notice | null} notice @returns {[lead: string, title: string, words: string]} */
export function sentence(view, notice) {
  if (!notice) return ["", "", ""];
  const words = (view.face.notices?.[notice.code] ?? SENTENCES[notice.code])?.(view, notice) ?? "";
  const isDone = notice.code === "decided" && notice.done && view.face.several;
  const lead = notice.code === "other-topic" ? "Topic: " : isDone ? "Topic done: " : "";
  return [view.words(lead), notice.title ?? "", words];
}

/** @param {View} view @param {Refusal} refused */
function drawRefused(view, { uuid, title, decision, reason }) {
  const words = decision.kind === "undone" ? "undo" : view.face.words(view, decision);
  const line = make("span", {}, "Not saved: ", apart("bdi", title), `, ${words}: `, apart("bdi", reason));
  return make("div", { className: "cd-refusal" }, line, smallButton("Dismiss", "dismiss", { uuid }));
}

/** @param {View} view @returns {Part} */
export function bar(view) {
  /** The drawn notice and refusals. @type {{ notice?: Notice | null, refused?: Refusal[] }} */
  let drawn = {};
  /** The notice and screen last announced to screen readers. @type {{ notice: Notice | null, drawn: string | null }} */
  let heard = { notice: null, drawn: null };
  let timer = 0;

  function drawStatus() {
    const [kind, words] = statusOf(view);
    view.setText("status", words);
    const node = view.node("status");
    if (node.dataset.kind === kind && node.ariaLive) return;
    node.dataset.kind = kind;
    node.ariaLive = kind === "problem" ? "polite" : "off"; // each "Saved" aloud would be noise
  }

  /** Tells a screen reader, after the paint, what was done and what is on screen now. */
  function speak() {
    timer = 0;
    const { item, state } = view;
    const now = { notice: state.notice, drawn: item?.on ?? null };
    const said = heard.notice === now.notice ? "" : sentence(view, now.notice).join("");
    const shown = !item ? "" : item.question ? heardQuestion(view, item) : view.face.heard(view, item);
    const parts = [said, heard.drawn !== now.drawn ? shown : ""].filter(Boolean);
    heard = now;
    view.setText("spoken", parts.map((part) => cut(part.replace(/\.$/, ""), 300)).join(". "));
  }

  return {
    clicks: { dismiss: ({ dataset }) => view.card.dispatch({ type: "dismiss", refused: dataset.uuid ?? "" }) },
    render(item) {
      const { notice, refused } = view.state;
      if (drawn.notice !== notice) {
        const [lead, title, words] = sentence(view, notice);
        view.setText("noticeLead", lead);
        view.setText("noticeTitle", cut(title, 200));
        view.setText("noticeWords", words);
        view.node("notice").classList.toggle("cd-urgent", notice?.urgent === true);
      }
      drawStatus();
      if (drawn.refused !== refused)
        view.node("refused").replaceChildren(...refused.map((each) => drawRefused(view, each)));
      drawn = { notice, refused };
      if (!timer && (heard.notice !== notice || heard.drawn !== (item?.on ?? null)))
        timer = window.setTimeout(speak, PAUSE_ALOUD);
    },
  };
}
