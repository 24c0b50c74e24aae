// A unit that is a whole topic, as far as its name and its words go. Part of the cards for lists and for preferences.

const ROUTE = "task";

const TEXTS = {
  first: "The first topics are being fetched.",
  asked: "The topic that was asked for",
  only: "This is the only topic left.",
  nothing: ["Nothing to decide yet", "Topics appear here once topics and a pool are made, and once topics are assigned to you."],
  done: ["Everything is decided", "Thank you. What follows from all decisions is on the Export page."],
  busy: ["No topic is free just now", "Other annotators hold what is left. Asking again every 10 seconds."],
};

const idOf = ({ query_id }) => query_id;
const askFor = (id) => ({ query_id: id });
const askedIn = (state, { query_id }, isNew) => (isNew ? query_id ?? undefined : undefined);
const titleOf = ({ topic }) => nameOfTopic(topic);
