"""The migrations that keep counts of each topic, since counting half a million judgements takes seconds.

Like every migration they are never edited once they were in a release.
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
                  FROM words AS l JOIN judgements AS j ON j.id = l.judgement
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
    -- Of the judgement: when it was made, null if imported, and how long it took.
    ALTER TABLE last_words ADD COLUMN judged_at TEXT;;
    ALTER TABLE last_words ADD COLUMN seconds REAL;;
    UPDATE last_words SET (judged_at, seconds) = (
        SELECT CASE WHEN source <> 'imported' THEN judged_at END, seconds
        FROM judgements WHERE id = last_words.judgement);;
    -- With `open`, the index has all that JudgementTables.annotators reads.
    CREATE INDEX last_words_times ON last_words (annotator, seconds, judged_at, open)
    WHERE NOT open AND counts_as = 'judgement';;

    CREATE TRIGGER topics_counts AFTER INSERT ON topics
    BEGIN INSERT INTO topic_counts (topic) VALUES (NEW.topic); END;;
    -- A pair is taken out of the counts before a change, and added after it.
    CREATE TRIGGER pool_counts_before BEFORE INSERT ON pool BEGIN {_count_pair("-")} END;;
    CREATE TRIGGER pool_counts_after AFTER INSERT ON pool BEGIN {_count_pair("+")} END;;
    CREATE TRIGGER pool_wanted_before BEFORE UPDATE OF wanted ON pool BEGIN {_count_pair("-")} END;;
    CREATE TRIGGER pool_wanted_after AFTER UPDATE OF wanted ON pool BEGIN {_count_pair("+")} END;;
    DROP TRIGGER judgements_last_word;;
    CREATE TRIGGER judgements_last_word AFTER INSERT ON judgements
    BEGIN
        {_count_pair("-")}
        INSERT INTO last_words (topic, doc, annotator, counts_as, judgement, open, judged_at, seconds)
        VALUES (NEW.topic, NEW.doc, NEW.annotator, NEW.counts_as, NEW.id, NEW.kind = 'undone',
                CASE WHEN NEW.source <> 'imported' THEN NEW.judged_at END, NEW.seconds)
        ON CONFLICT (topic, doc, annotator, counts_as) DO UPDATE SET judgement = excluded.judgement,
            open = excluded.open, judged_at = excluded.judged_at, seconds = excluded.seconds;
        {_count_pair("+")}
        UPDATE topic_counts SET logged = logged + 1 WHERE topic = NEW.topic;
    END;;

    INSERT INTO topic_counts
    SELECT t.topic, (SELECT count(*) FROM judgements AS j WHERE j.topic = t.topic),
           (SELECT count(*) FROM words AS w WHERE w.topic = t.topic), count(p.doc), coalesce(sum(p.wanted), 0),
           coalesce(sum(p.made), 0), coalesce(sum(p.made >= p.wanted), 0), coalesce(sum(p.judged), 0),
           coalesce(sum(p.judged AND NOT p.graded), 0), coalesce(o.judged, 0), coalesce(o.judged - o.graded, 0)
    FROM topics AS t LEFT JOIN (
        SELECT p.topic, p.doc, p.wanted, max(w.judgement IS NOT NULL) AS judged,
               CASE WHEN max(w.counts_as = 'adjudication') THEN p.wanted
                    ELSE min(coalesce(sum(w.counts_as = 'judgement'), 0), p.wanted) END AS made,
               max(coalesce(j.kind = 'graded', 0)) AS graded
        FROM pool AS p LEFT JOIN words AS w ON w.topic = p.topic AND w.doc = p.doc
        LEFT JOIN judgements AS j ON j.id = w.judgement GROUP BY p.topic, p.doc
    ) AS p USING (topic) LEFT JOIN (
        SELECT w.topic, count(DISTINCT w.doc) AS judged,
               count(DISTINCT CASE WHEN j.kind = 'graded' THEN w.doc END) AS graded
        FROM words AS w JOIN judgements AS j ON j.id = w.judgement
        LEFT JOIN pool AS e ON e.topic = w.topic AND e.doc = w.doc WHERE e.doc IS NULL GROUP BY w.topic
    ) AS o USING (topic) GROUP BY t.topic;;
    """

REMOVAL = f"""
    ALTER TABLE pool_rounds ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;;
    CREATE TRIGGER pool_counts_removed_before BEFORE DELETE ON pool BEGIN {_count_pair("-", "OLD")} END;;
    CREATE TRIGGER pool_counts_removed_after AFTER DELETE ON pool
    BEGIN
        {_count_pair("+", "OLD")}
        UPDATE pool_rounds SET removed = removed + 1 WHERE pool_round = OLD.pool_round;
    END;;
    """
