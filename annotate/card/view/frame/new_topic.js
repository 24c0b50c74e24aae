// A topic that the annotator has not asked for: its words, until a key begins it.

/** @import { Part, Topic, TopicWords, View } from "../types.js" */

import { nameOfTopic } from "../panels/topics.js";
import { sentence } from "./bar.js";

/** @param {View} view @param {(view: View) => Topic | TopicWords | null | undefined} topicOn the topic of the open unit @returns {Part} */
export function newTopic(view, topicOn) {
  let isShown = false;
  return {
    clicks: { begin: () => view.begin() },
    render() {
      const topic = view.waiting && topicOn(view);
      view.setHidden("newTopic", !topic);
      if (topic) {
        const name = nameOfTopic(topic);
        view.setLine("newTopicWhy", sentence(view, view.state.scope.why ?? null).join(""));
        view.setText("newTopicTitle", name);
        view.setLine("newTopicDescription", topic.description === name ? "" : topic.description);
        view.setLine("newTopicNarrative", topic.narrative);
        view.setLine("newTopicNote", "note" in topic ? topic.note : "");
        if (!isShown) view.letGo(); // a button that was pressed last would be pressed by Enter once more
      }
      isShown = Boolean(topic);
    },
  };
}
