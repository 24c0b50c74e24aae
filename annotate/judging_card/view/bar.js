// The lines above and below the buttons: what was just done, what is not saved yet, what the server refused.

/** @import { Item, Notice } from "../core/types.js" */
/** @import { Part } from "./types.js" */
/** @import { View } from "./view.js" */

import { causeOf, Failure } from "../shell/network.js";
import { apart, cut, make, smallButton } from "./nodes.js";
import { count, plural } from "./phrases.js";

/** Ms without a connection after which the card says so. */
const OFFLINE_AFTER = 3_000;

/** Ms until a screen reader hears what was done: fast keys are not read one by one. */
const PAUSE_ALOUD = 250;

export const ONE_MOMENT = "Loading …";

/** What is shown when nothing is left to decide without a connection. @type {[title: string, words: string]} */
export const CUT_OFF = [
  "No connection",
  "Everything that was loaded is done and kept in this browser. Judging continues when the server can be reached again.",
];

/** @param {View} view */
const isFailing = ({ state: { sync } }) => sync.failures > 0 && Date.now() - sync.failingSince >= OFFLINE_AFTER;

/** Whether there has been no connection for a while. @param {View} view */
export const isCutOff = (view) => view.state.sync.trouble === 0 && isFailing(view);

/** How the last decision is undone, as the end of a sentence. @param {View} view */
function undoHint(view) {
  const key = view.keys.hint("undo");
  return key && ` – ${key} to undo`;
}

/** @param {View} view @param {string} before */
export function forwardHint(view, before) {
  const key = view.keys.hint("forward");
  return key && `${before}${key} to go forward`;
}

/** @param {Notice} notice */
const cause = ({ status = -1, detail = "" }) => causeOf(new Failure(status, detail));

/**
 * The sentences of notices; a card adds its own or replaces these. Those that begin with a colon follow a title.
 *
 * @type {NonNullable<import("./types.js").Face["notices"]>}
 */
const SENTENCES = {
  words: (_, { words = "" }) => words,
  decided: (view, { decision, revised }) =>
    `: ${decision ? view.face.words(view, decision) : ""}${revised ? ", revised" : ""}${undoHint(view)}`,
  undone: (view, { decision }) => `: ${decision ? view.face.words(view, decision) : ""}, undone`,
  "looking-back": (view, { decision }) =>
    `: ${decision ? view.face.words(view, decision) : ""} – answer again to change it${forwardHint(view, ", ")}`,
  "forward-to-open": () => "Back to the first undecided one.",
  "nothing-here": (view) =>
    view.texts.restTitle === ONE_MOMENT ? "What comes next is loading." : "There is nothing on screen to decide.",
  "nothing-to-undo": () => "Nothing to undo.",
  "no-earlier": () => "No earlier decisions.",
  "already-decided": (view) => `This is already decided${forwardHint(view, ": press ")}.`,
  "just-changed": () => "Not recorded: the screen had just changed. Try again.",
  skipped: () => ": skipped; it comes back after the others",
  "skipped-in-another-tab": () => ": skipped in another tab",
  "decided-in-another-tab": () => ": decided in another tab",
  "closed-elsewhere": () => ": no longer needs a decision",
  loading: () => ONE_MOMENT,
  "cannot-load": (_, notice) => `The documents could not be loaded: ${cause(notice)}.`,
  "cannot-show-asked": (view, notice) => `${view.face.asking ?? "It"} cannot be shown: ${cause(notice)}.`,
  note: (_, { on }) => (on ? ": note saved" : ": note removed"),
};

/**
 * How unsent decisions stand: the kind of line, and its words.
 *
 * @param {View} view
 * @returns {["saved" | "waiting" | "problem", string]}
 */
function statusOf(view) {
  const { outbox, hasSaved, sync } = view.state;
  const { trouble, detail, failures } = sync;
  const n = outbox.length;
  const what = count(n, view.face.noun);
  const place = view.card.storage.fails ? "in this tab" : "in this browser";
  if (trouble === 401) {
    const kept = n ? ` ${what} ${plural(n, "is", "are")} kept ${place}.` : "";
    const why = !detail || detail === "not signed in" ? "reload this page to sign in again" : detail.replace(/\.$/, "");
    return ["problem", `You are signed out: ${why}.${kept}`];
  }
  if (isFailing(view) || (trouble !== null && trouble >= 400 && trouble < 500)) {
    const why =
      trouble === 0
        ? "No connection"
        : trouble === -1
          ? "The server sent an unexpected answer"
          : trouble === 403 && detail
            ? detail.charAt(0).toUpperCase() + detail.slice(1).replace(/\.$/, "")
            : `Server error (${trouble}${detail ? `, ${detail}` : ""})`;
    return [
      "problem",
      `${why}: ${n ? `${what} ${plural(n, "is", "are")} kept ${place} and will be sent` : "trying again"}`,
    ];
  }
  const words = n ? `${n} not saved yet` : hasSaved ? "Saved" : "";
  if (view.card.storage.fails) {
    const warning = "This browser cannot store unsent answers: keep this tab open until everything is saved.";
    return ["problem", `${words && `${words}. `}${warning}`];
  }
  return [n || failures ? "waiting" : "saved", words];
}

/** @implements {Part} */
export class Bar {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** @type {Notice | null | undefined} */
    this.notice = undefined;
    /** @type {unknown} */
    this.refused = null;
    this.status = "";
    /** What a screen reader has heard. @type {{ notice: Notice | null, drawn: string | null }} */
    this.heard = { notice: null, drawn: null };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.clicks = {
      dismiss: (/** @type {HTMLElement} */ { dataset }) =>
        view.card.dispatch({ type: "dismiss", refused: dataset.uuid ?? "" }),
    };
  }

  /** @param {Item | null} item */
  render(item) {
    this.renderNotice();
    this.renderStatus();
    this.renderRefused();
    if (
      this.timer === undefined &&
      (this.heard.notice !== this.view.state.notice || this.heard.drawn !== (item?.drawn ?? null))
    ) {
      this.timer = setTimeout(() => this.speak(), PAUSE_ALOUD);
    }
  }

  /** The words of a notice, with the lead before its title. @param {Notice | null} notice */
  sentence(notice) {
    if (!notice) return ["", "", ""];
    const sentence = this.view.face.notices?.[notice.code] ?? SENTENCES[notice.code];
    const lead = notice.code === "decided" && notice.done && this.view.face.several ? "Topic done: " : "";
    return [lead, notice.title ?? "", sentence?.(this.view, notice) ?? ""];
  }

  renderNotice() {
    const { view } = this;
    const { notice } = view.state;
    if (this.notice === notice) return;
    this.notice = notice;
    const [lead = "", title = "", words = ""] = this.sentence(notice);
    view.setText("noticeLead", lead);
    view.setText("noticeTitle", cut(title, 200));
    view.setText("noticeWords", words);
    view.node("notice").classList.toggle("cd-urgent", notice?.urgent === true);
  }

  renderStatus() {
    const { view } = this;
    const [kind, words] = statusOf(view);
    view.setText("status", words);
    if (this.status === kind) return;
    this.status = kind;
    const node = view.node("status");
    node.dataset.kind = kind;
    node.setAttribute("aria-live", kind === "problem" ? "polite" : "off"); // each "Saved" aloud would be noise
  }

  renderRefused() {
    const { view } = this;
    const { refused } = view.state;
    if (this.refused === refused) return;
    this.refused = refused;
    view.node("refused").replaceChildren(
      ...refused.map(({ uuid, title, decision, reason }) => {
        const words = decision.kind === "undone" ? "undo" : view.face.words(view, decision);
        const row = make("div", { className: "cd-refusal" });
        const line = make("span");
        line.append("Not saved: ", apart("bdi", title), `, ${words}: `, apart("bdi", reason));
        row.append(line, smallButton("Dismiss", "dismiss", { uuid }));
        return row;
      }),
    );
  }

  /** Tells a screen reader, after the paint, what was done and what is on screen now. */
  speak() {
    this.timer = undefined;
    const { view } = this;
    const { item } = view;
    const { notice } = view.state;
    const drawn = item?.drawn ?? null;
    const said = this.heard.notice === notice ? "" : this.sentence(notice).join("");
    const parts = [said, item && this.heard.drawn !== drawn ? view.face.heard(view, item) : ""];
    this.heard = { notice, drawn };
    view.setText(
      "spoken",
      parts
        .filter(Boolean)
        .map((part) => cut(part.replace(/\.$/, ""), 300))
        .join(". "),
    );
  }
}
