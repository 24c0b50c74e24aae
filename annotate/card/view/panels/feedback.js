// The reference grades of qualification pairs that were just judged, until the next ones or Escape.

/** @import { QualificationFeedback, Part, View } from "../types.js" */

import { apart, cut, make } from "../frame/nodes.js";
import { gradeWords } from "../units/grades.js";

/** @param {View} view @returns {Part} */
export function feedback(view) {
  /** @type {QualificationFeedback[] | null} */
  let drawn = null;
  const close = () => view.card.dispatch({ type: "close-feedback" });
  return {
    clicks: { "close-feedback": close },
    stepBack: () => drawn && close,
    render() {
      const { feedback } = view.state.scope;
      if (drawn === feedback) return;
      drawn = feedback;
      view.setHidden("feedback", !drawn);
      view.node("feedbackList").replaceChildren(...(drawn ?? []).map((each) => drawFeedback(view, each)));
    },
  };
}

/** @param {View} view @param {QualificationFeedback} feedback */
function drawFeedback(view, { uuid, doc_id, title, relevance, settled, note }) {
  const own = view.state.history.find(({ decision }) => decision.uuid === uuid)?.decision;
  const said = own ?? { kind: relevance === null ? "cannot judge" : "graded", relevance };
  const same = said.kind === "graded" && said.relevance === settled;
  const reference = gradeWords(view, { kind: "graded", relevance: settled });
  const answer = same ? "It matches the reference grade." : `Reference grade: ${reference}.`;
  return make(
    "li",
    { className: same ? "cd-same" : "cd-other-grade" },
    apart("b", cut(title || doc_id, 120)),
    make("span", {}, `Your grade: ${gradeWords(view, said)}. ${answer}`),
    ...(note ? [apart("span", cut(note, 600), "cd-settled-note")] : []),
  );
}
