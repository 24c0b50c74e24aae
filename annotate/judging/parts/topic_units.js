// A unit that is a whole topic, as far as its name and its words go. Part of the cards for lists and for preferences.

const ROUTE = "task";

const TEXTS = {
  first: "Fetching the first topics.",
  asked: "The requested topic",
  only: "This is the only topic left.",
  nothing: ["Nothing to decide yet", "Topics appear here after a manager has added topics and a pool, and assigned topics to you."],
  done: ["All topics are done", "Thank you. Managers can download the results on the Export page."],
  busy: ["No free topic right now", "Other annotators are working on the remaining ones. Checking again every 10 seconds."],
};

const idOf = ({ query_id }) => query_id;
const askFor = (id) => ({ query_id: id });
const askedIn = (state, { query_id }, isNew) => (isNew ? query_id ?? undefined : undefined);
const titleOf = ({ topic }) => nameOfTopic(topic);
