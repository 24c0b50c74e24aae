"""The counts of each topic, which triggers keep, since counting half a million judgements takes seconds.

Part of a migration: never edited once it was in a release.
"""

_COUNTED = {
    "judgements": "w.every",
    "pool": "p.doc IS NOT NULL",
    "wanted": "coalesce(p.wanted, 0)",
    "made": "coalesce(CASE WHEN w.adjudicated THEN p.wanted ELSE min(w.ordinary, p.wanted) END, 0)",
    "finished": "p.doc IS NOT NULL AND (w.adjudicated OR w.ordinary >= p.wanted)",
    "judged": "w.every > 0 AND p.doc IS NOT NULL",
    "cannot_judge": "w.every > 0 AND NOT w.graded AND p.doc IS NOT NULL",
    "elsewhere": "w.every > 0 AND p.doc IS NULL",
    "elsewhere_cannot": "w.every > 0 AND NOT w.graded AND p.doc IS NULL",
}
"""What a pair adds to each count of its topic: `p` is its row of the pool, `w` its current judgements."""


def _count_pair(sign: str, row: str = "NEW") -> str:
    """Write SQL that adds the pair of a trigger's row to the counts of its topic ("+"), or takes it away ("-")."""
    counts = ", ".join(f"topic_counts.{name} {sign} ({number})" for name, number in _COUNTED.items())
    return f"""
        UPDATE topic_counts SET ({", ".join(_COUNTED)}) = (
            SELECT {counts}
            FROM (SELECT count(*) AS every, coalesce(sum(l.counts_as = 'judgement'), 0) AS ordinary,
                         coalesce(max(l.counts_as = 'adjudication'), 0) AS adjudicated,
                         coalesce(max(j.kind = 'graded'), 0) AS graded
                  FROM current_judgements AS l JOIN judgements AS j ON j.id = l.judgement
                  WHERE l.topic = {row}.topic AND l.doc = {row}.doc) AS w
            LEFT JOIN pool AS p ON p.topic = {row}.topic AND p.doc = {row}.doc
        ) WHERE topic = {row}.topic;
    """


COUNTS = f"""
    -- `logged`: entries in the log; `judgements`: current ones; `finished`: pooled pairs that need no more judgements.
    -- The others as in JudgementTables.progress.
    CREATE TABLE topic_counts (
        topic INTEGER PRIMARY KEY REFERENCES topics,
        logged INTEGER NOT NULL DEFAULT 0,
        judgements INTEGER NOT NULL DEFAULT 0,
        pool INTEGER NOT NULL DEFAULT 0,
        wanted INTEGER NOT NULL DEFAULT 0,
        made INTEGER NOT NULL DEFAULT 0,
        finished INTEGER NOT NULL DEFAULT 0,
        judged INTEGER NOT NULL DEFAULT 0,
        cannot_judge INTEGER NOT NULL DEFAULT 0,
        elsewhere INTEGER NOT NULL DEFAULT 0,
        elsewhere_cannot INTEGER NOT NULL DEFAULT 0
    );;
    CREATE TRIGGER topics_counts AFTER INSERT ON topics
    BEGIN INSERT INTO topic_counts (topic) VALUES (NEW.topic); END;;
    -- A pair is taken out of the counts before a change, and added after it.
    CREATE TRIGGER pool_counts_before BEFORE INSERT ON pool BEGIN {_count_pair("-")} END;;
    CREATE TRIGGER pool_counts_after AFTER INSERT ON pool BEGIN {_count_pair("+")} END;;
    CREATE TRIGGER pool_wanted_before BEFORE UPDATE OF wanted ON pool BEGIN {_count_pair("-")} END;;
    CREATE TRIGGER pool_wanted_after AFTER UPDATE OF wanted ON pool BEGIN {_count_pair("+")} END;;
    CREATE TRIGGER pool_counts_removed_before BEFORE DELETE ON pool BEGIN {_count_pair("-", "OLD")} END;;
    CREATE TRIGGER pool_counts_removed_after AFTER DELETE ON pool
    BEGIN
        {_count_pair("+", "OLD")}
        UPDATE pool_rounds SET removed = removed + 1 WHERE pool_round = OLD.pool_round;
    END;;
    CREATE TRIGGER judgements_latest AFTER INSERT ON judgements
    BEGIN
        {_count_pair("-")}
        INSERT INTO latest_judgements (topic, doc, annotator, counts_as, judgement, undone, judged_at, seconds)
        VALUES (NEW.topic, NEW.doc, NEW.annotator, NEW.counts_as, NEW.id, NEW.kind = 'undone',
                CASE WHEN NEW.source <> 'imported' THEN NEW.judged_at END, NEW.seconds)
        ON CONFLICT (topic, doc, annotator, counts_as) DO UPDATE SET judgement = excluded.judgement,
            undone = excluded.undone, judged_at = excluded.judged_at, seconds = excluded.seconds;
        {_count_pair("+")}
        UPDATE topic_counts SET logged = logged + 1 WHERE topic = NEW.topic;
    END;;
    """
