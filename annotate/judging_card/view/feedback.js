// The reference grades of calibration pairs that were just judged, until the next ones or Escape.

/** @import { CalibrationFeedback } from "../core/types.js" */
/** @import { Part, Reaction } from "./types.js" */
/** @import { View } from "./view.js" */

import { wordsOf } from "./grades.js";
import { apart, cut, make } from "./nodes.js";

/** @implements {Part} */
export class Feedback {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    /** @type {CalibrationFeedback[] | null} */
    this.drawn = null;
    this.clicks = { "close-feedback": () => this.close() };
  }

  close() {
    this.view.card.dispatch({ type: "close-feedback" });
  }

  /** @returns {Reaction} */
  stepBack() {
    return this.drawn && (() => this.close());
  }

  render() {
    const { view } = this;
    const { feedback } = view.state.scope;
    if (this.drawn === feedback) return;
    this.drawn = feedback;
    view.setHidden("feedback", !feedback);
    view
      .node("feedbackList")
      .replaceChildren(...(feedback ?? []).map((/** @type {CalibrationFeedback} */ each) => this.row(each)));
  }

  /** @param {CalibrationFeedback} feedback */
  row({ uuid, doc_id, title, relevance, settled, note }) {
    const { view } = this;
    const own = view.state.history.find(({ decision }) => decision.uuid === uuid)?.decision;
    const said = own ?? { kind: relevance === null ? "cannot judge" : "graded", relevance };
    const same = said.kind === "graded" && said.relevance === settled;
    const reference = wordsOf(view, { kind: "graded", relevance: settled });
    const answer = same ? "It matches the reference grade." : `Reference grade: ${reference}.`;
    const row = make("li", { className: same ? "cd-same" : "cd-other-grade" });
    const words = `Your grade: ${wordsOf(view, said)}. ${answer}`;
    row.append(apart("b", cut(title || doc_id, 120)), make("span", { textContent: words }));
    if (note) row.append(apart("span", cut(note, 600), "cd-settled-note"));
    return row;
  }
}
