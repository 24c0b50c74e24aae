// The card for lists: a topic with its documents, of which annotators select those that answer it, or none.

import { list, topicTitle } from "./core/kinds/list.js";
import { mountable } from "./view/frame/mount.js";
import { count, join } from "./view/frame/phrases.js";
import { wordsOf } from "./view/units/grades.js";
import { lists } from "./view/units/lists.js";
import { TOPIC_TEXTS } from "./view/units/unit_rest.js";
import { TOPIC_FACE, unitParts } from "./view/units/units.js";

export default mountable({
  ...TOPIC_FACE,
  kind: list,
  place: "list:",
  noun: "choice",
  parts: (view) => unitParts(view, lists(view), TOPIC_TEXTS),
  scroller: (view) => view.node("documents"),
  words(view, decision) {
    const { kind, shown = [], chosen = [] } = decision;
    if (kind !== "chosen") return wordsOf(view, decision);
    return chosen.length
      ? `selected ${join(chosen.map((id) => shown.indexOf(id) + 1).sort((a, b) => a - b))}`
      : "none of these";
  },
  heard: (_, { unit }) => `${topicTitle(unit)}: ${count(unit.documents.length, "document")}`,
});
