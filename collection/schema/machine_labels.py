"""The tables of machine labels, apart from judgements: nothing that counts judgements reads them.

Part of a migration: never edited once it was in a release.
"""

MACHINE_LABELS = """
    -- Labels made in one way: a model with its prompt template, a rule, or an estimate from clicks.
    CREATE TABLE label_sets (
        label_set INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('llm', 'rule', 'clicks')),
        -- The settings that decided the labels, as a JSON object.
        settings TEXT NOT NULL,
        made_at TEXT NOT NULL
    );;
    CREATE TRIGGER label_sets_keep_update BEFORE UPDATE ON label_sets
    BEGIN SELECT RAISE(ABORT, 'what made labels is never changed'); END;;

    -- Append-only; rows are deleted only with their label set, which is deleted first. A pair that is asked again,
    -- since its reply had no grade, gets another row.
    CREATE TABLE machine_labels (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        label_set INTEGER NOT NULL REFERENCES label_sets,
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        status TEXT NOT NULL CHECK (status IN ('graded', 'no grade', 'failed')),
        relevance REAL CHECK ((relevance IS NOT NULL) = (status = 'graded') AND relevance >= 0),
        -- For models: what was asked and answered (compressed by zlib), and the model and its revision (the
        -- fingerprint of the system) as the endpoint names them.
        prompt BLOB,
        reply BLOB,
        model TEXT,
        revision TEXT,
        prompt_tokens INTEGER,
        reply_tokens INTEGER,
        cost REAL,
        seconds REAL,
        problem TEXT,
        labelled_at TEXT NOT NULL
    );;
    CREATE INDEX machine_labels_pair ON machine_labels (label_set, topic, doc, id);;
    CREATE TRIGGER machine_labels_keep_update BEFORE UPDATE ON machine_labels
    BEGIN SELECT RAISE(ABORT, 'machine labels are an append-only log'); END;;
    CREATE TRIGGER machine_labels_keep_delete BEFORE DELETE ON machine_labels
    WHEN EXISTS (SELECT 1 FROM label_sets AS s WHERE s.label_set = OLD.label_set)
    BEGIN SELECT RAISE(ABORT, 'machine labels are an append-only log'); END;;
    -- The first grade of a pair counts, whatever is asked or fails later; before it the last reply, or failure.
    CREATE VIEW current_machine_labels AS
    SELECT m.* FROM machine_labels AS m WHERE m.id = (
        SELECT l.id FROM machine_labels AS l
        WHERE l.label_set = m.label_set AND l.topic = m.topic AND l.doc = m.doc
        ORDER BY l.status = 'graded' DESC, l.status = 'no grade' DESC,
            CASE l.status WHEN 'graded' THEN l.id ELSE -l.id END LIMIT 1);;

    -- Answers to documents with injected requests, made for a probe: they are no labels. Append-only; the last row of a
    -- topic and request counts.
    CREATE TABLE injection_probes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        label_set INTEGER NOT NULL REFERENCES label_sets,
        topic INTEGER NOT NULL REFERENCES topics,
        request TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('graded', 'no grade', 'failed')),
        relevance REAL CHECK ((relevance IS NOT NULL) = (status = 'graded') AND relevance >= 0),
        prompt BLOB,
        reply BLOB,
        model TEXT,
        revision TEXT,
        prompt_tokens INTEGER,
        reply_tokens INTEGER,
        cost REAL,
        seconds REAL,
        problem TEXT,
        labelled_at TEXT NOT NULL
    );;

    -- Who saw which label, and when: a judgement after it is not independent of the label.
    CREATE TABLE label_views (
        annotator TEXT NOT NULL,
        label_set INTEGER NOT NULL REFERENCES label_sets,
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        shown_at TEXT NOT NULL,
        PRIMARY KEY (topic, doc, annotator, label_set)
    ) WITHOUT ROWID;;

    -- Pairs in the order in which people judge them, so that the first n are a random sample for every n.
    -- `priority` is null for pairs that people had judged before.
    CREATE TABLE human_samples (
        label_set INTEGER NOT NULL REFERENCES label_sets,
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        size REAL NOT NULL CHECK (size > 0),
        priority REAL,
        PRIMARY KEY (label_set, topic, doc)
    ) WITHOUT ROWID;;
    -- At most one row: the sample that people judge in place of the pool.
    CREATE TABLE sample_in_use (label_set INTEGER NOT NULL REFERENCES label_sets, pairs INTEGER NOT NULL);;
"""
