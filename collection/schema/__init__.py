"""The tables of campaign.db, as numbered migrations.

A migration that was in a release is never edited, since campaigns were made with it: a change is a new one at the end.
Each runs in one transaction with the record that it has run. Statements end with ``;;``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlite_utils.migrations import Migrations

from collection.schema.counts import COUNTS
from collection.schema.machine_labels import MACHINE_LABELS

if TYPE_CHECKING:
    from sqlite_utils.db import Database

migrations = Migrations("cleverdon")

SCRIPTS: dict[str, str] = {}
"""Name of each migration -> its statements."""


def register(name: str, script: str) -> None:
    """Add a migration, to be run after those before it."""
    SCRIPTS[name] = script

    @migrations(name=name)
    def run(db: Database) -> None:
        # One statement at a time: executescript() would commit the migration's own transaction first.
        for statement in script.split(";;"):
            if statement.strip():
                db.execute(statement)


_CAMPAIGN = """
    CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;;
    -- Long texts, apart from the settings, which are read as a whole: the guidelines.
    CREATE TABLE texts (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;;

    CREATE TABLE topics (
        topic INTEGER PRIMARY KEY,
        query_id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        description TEXT NOT NULL,
        narrative TEXT NOT NULL,
        note TEXT NOT NULL DEFAULT ''
    );;

    -- text is null where a run or qrels named the document and its text was never imported.
    CREATE TABLE documents (
        doc INTEGER PRIMARY KEY,
        doc_id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL DEFAULT '',
        text TEXT,
        metadata TEXT NOT NULL DEFAULT '{}'
    );;
    CREATE INDEX documents_without_text ON documents (doc) WHERE text IS NULL;;

    -- The terms of the documents that have a text; the text itself stays where it is. CorpusTables.add_documents adds
    -- new texts in large steps, which is twice as fast as a trigger.
    CREATE VIRTUAL TABLE documents_fts USING fts5 (
        title, text, content = 'documents', content_rowid = 'doc', tokenize = 'unicode61 remove_diacritics 2'
    );;
    CREATE TRIGGER documents_fts_update AFTER UPDATE OF title, text ON documents
    BEGIN
        INSERT INTO documents_fts (documents_fts, rowid, title, text)
        SELECT 'delete', OLD.doc, OLD.title, OLD.text WHERE OLD.text IS NOT NULL;
        INSERT INTO documents_fts (rowid, title, text)
        SELECT NEW.doc, NEW.title, NEW.text WHERE NEW.text IS NOT NULL;
    END;;

    CREATE TABLE runs (
        run TEXT PRIMARY KEY,
        file TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        topics INTEGER NOT NULL,
        rows INTEGER NOT NULL,
        deepest INTEGER NOT NULL,
        imported_at TEXT NOT NULL
    ) WITHOUT ROWID;;
    -- The topics that a run names, with a digest of its ranking of each.
    CREATE TABLE run_topics (
        run TEXT NOT NULL,
        query_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        PRIMARY KEY (run, query_id)
    ) WITHOUT ROWID;;
    CREATE INDEX run_topics_by_topic ON run_topics (query_id);;
    -- Costs of runs (latency, price, ...), where they are known: one JSON object a run.
    CREATE TABLE run_costs (
        run TEXT PRIMARY KEY,
        costs TEXT NOT NULL
    ) WITHOUT ROWID;;

    -- How often a document was shown at a rank and clicked there, by the file with the clicks.
    CREATE TABLE clicks (
        source TEXT NOT NULL,
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        rank INTEGER NOT NULL CHECK (rank >= 1),
        shown INTEGER NOT NULL CHECK (shown >= 0),
        clicked INTEGER NOT NULL CHECK (clicked BETWEEN 0 AND shown),
        PRIMARY KEY (source, topic, doc, rank)
    ) WITHOUT ROWID;;

    -- `removed`: number of pairs that the round has lost.
    CREATE TABLE pool_rounds (
        pool_round INTEGER PRIMARY KEY,
        strategy TEXT NOT NULL,
        parameters TEXT NOT NULL,
        runs TEXT NOT NULL,
        pairs INTEGER NOT NULL,
        made_at TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0
    );;
    -- A pair enters the pool once, by the first round that selects it. `wanted`: number of annotators that it needs.
    CREATE TABLE pool (
        topic INTEGER NOT NULL REFERENCES topics,
        pool_round INTEGER NOT NULL REFERENCES pool_rounds,
        position INTEGER NOT NULL,
        doc INTEGER NOT NULL REFERENCES documents,
        rank INTEGER NOT NULL,
        probability REAL,
        wanted INTEGER NOT NULL DEFAULT 1,
        stratum INTEGER,
        PRIMARY KEY (topic, pool_round, position)
    ) WITHOUT ROWID;;
    CREATE UNIQUE INDEX pool_pair ON pool (topic, doc);;
    -- Pairs that a random sample did not draw: qrels need them for the weights of those that it drew.
    CREATE TABLE sampled_out (
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        pool_round INTEGER NOT NULL REFERENCES pool_rounds,
        stratum INTEGER,
        probability REAL,
        PRIMARY KEY (topic, doc, pool_round)
    ) WITHOUT ROWID;;
    -- Pairs that every new annotator judges first.
    CREATE TABLE qualification_set (
        topic INTEGER NOT NULL REFERENCES topics,
        position INTEGER NOT NULL,
        doc INTEGER NOT NULL REFERENCES documents,
        PRIMARY KEY (topic, position),
        UNIQUE (topic, doc)
    ) WITHOUT ROWID;;

    -- `name` is the annotator of the log. The password is a hash by argon2, null until one is chosen.
    CREATE TABLE accounts (
        name TEXT PRIMARY KEY COLLATE NOCASE,
        role TEXT NOT NULL CHECK (role IN ('manager', 'annotator', 'reader')),
        email TEXT UNIQUE COLLATE NOCASE,
        password TEXT,
        locked INTEGER NOT NULL DEFAULT 0,
        made_at TEXT NOT NULL
    ) WITHOUT ROWID;;
    -- One row for each browser that is signed in, with what its user recognises it by; of its key, only a digest.
    CREATE TABLE sessions (
        digest TEXT PRIMARY KEY,
        account TEXT NOT NULL REFERENCES accounts ON DELETE CASCADE,
        opened_at TEXT NOT NULL,
        until REAL NOT NULL,
        device TEXT,
        address TEXT,
        seen_at REAL
    ) WITHOUT ROWID;;
    CREATE INDEX sessions_account ON sessions (account);;
    -- One-time links, of which only a digest is stored.
    CREATE TABLE signin_links (
        digest TEXT PRIMARY KEY,
        annotator TEXT NOT NULL,
        made_at TEXT NOT NULL,
        used_at TEXT,
        until REAL,
        invitation INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;;
    CREATE TABLE memberships (
        group_name TEXT NOT NULL,
        account TEXT NOT NULL COLLATE NOCASE REFERENCES accounts ON DELETE CASCADE,
        PRIMARY KEY (group_name, account)
    ) WITHOUT ROWID;;
    -- A topic without a row is open to all annotators.
    CREATE TABLE assignments (
        topic INTEGER NOT NULL REFERENCES topics,
        kind TEXT NOT NULL CHECK (kind IN ('account', 'group')),
        name TEXT NOT NULL COLLATE NOCASE,
        PRIMARY KEY (topic, kind, name)
    ) WITHOUT ROWID;;
    -- Each annotator's own settings of the judging page: a JSON object that only the page reads.
    CREATE TABLE card_settings (annotator TEXT PRIMARY KEY, settings TEXT NOT NULL) WITHOUT ROWID;;

    -- The mode of a topic without a row, or with null, is the campaign's; a closed topic keeps its mode.
    CREATE TABLE topic_modes (
        topic INTEGER PRIMARY KEY REFERENCES topics,
        mode TEXT,
        closed INTEGER NOT NULL DEFAULT 0
    );;
    -- Each set of conditions under which the loop selects documents, once, as JSON.
    CREATE TABLE loop_conditions (id INTEGER PRIMARY KEY, conditions TEXT NOT NULL UNIQUE);;
    -- Reserved pairs, and how each was selected. `ahead`: 0 on screen, otherwise the number of pairs before it on the
    -- judging page; null in a work list. `conditions`: null unless the loop selected the pair.
    CREATE TABLE leases (
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        annotator TEXT NOT NULL,
        until REAL NOT NULL,
        strategy TEXT,
        pool_rank INTEGER,
        model_round INTEGER,
        probability REAL,
        ahead INTEGER,
        since REAL NOT NULL,
        conditions INTEGER REFERENCES loop_conditions,
        PRIMARY KEY (topic, doc, annotator)
    ) WITHOUT ROWID;;
    CREATE INDEX leases_annotator ON leases (annotator, until);;
    -- Reserved topics, from whose lists annotators choose, or of whose documents they prefer one.
    CREATE TABLE claims (
        topic INTEGER NOT NULL REFERENCES topics,
        annotator TEXT NOT NULL,
        until REAL NOT NULL,
        ahead INTEGER,
        since REAL NOT NULL,
        PRIMARY KEY (topic, annotator)
    ) WITHOUT ROWID;;
    CREATE TABLE skips (
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        annotator TEXT NOT NULL,
        skipped_at REAL NOT NULL,
        PRIMARY KEY (topic, doc, annotator, skipped_at)
    ) WITHOUT ROWID;;

    -- The append-only log. `passages`: a JSON list of [start, end] in characters of the text as it is shown, or null.
    -- `conditions`: as in leases.
    CREATE TABLE judgements (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        annotator TEXT NOT NULL,
        topic INTEGER NOT NULL REFERENCES topics,
        doc INTEGER NOT NULL REFERENCES documents,
        kind TEXT NOT NULL CHECK (kind IN ('graded', 'cannot judge', 'undone')),
        relevance INTEGER CHECK ((relevance IS NOT NULL) = (kind = 'graded') AND relevance >= 0),
        reason TEXT,
        judged_at TEXT NOT NULL,
        shown_at TEXT,
        seconds REAL CHECK (seconds BETWEEN 0 AND 1e9),
        source TEXT NOT NULL,
        strategy TEXT,
        pool_rank INTEGER,
        model_round INTEGER,
        probability REAL,
        revises INTEGER REFERENCES judgements,
        note TEXT,
        counts_as TEXT NOT NULL DEFAULT 'judgement' CHECK (counts_as IN ('judgement', 'adjudication', 'surplus')),
        away REAL CHECK (away BETWEEN 0 AND 1e9),
        flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1)),
        passages TEXT,
        conditions INTEGER
    );;
    CREATE INDEX judgements_pair ON judgements (topic, doc, annotator);;
    -- With the rowid behind it: the newest entries of a topic.
    CREATE INDEX judgements_topic ON judgements (topic);;
    CREATE TRIGGER judgements_keep_update BEFORE UPDATE ON judgements
    BEGIN SELECT RAISE(ABORT, 'judgements are an append-only log'); END;;
    CREATE TRIGGER judgements_keep_delete BEFORE DELETE ON judgements
    BEGIN SELECT RAISE(ABORT, 'judgements are an append-only log'); END;;

    -- The latest entry of each annotator on each pair, also if undone or surplus; who adjudicates a pair that they have
    -- judged has two. `judged_at`: null if imported. A trigger on judgements writes it.
    CREATE TABLE latest_judgements (
        topic INTEGER NOT NULL,
        doc INTEGER NOT NULL,
        annotator TEXT NOT NULL,
        counts_as TEXT NOT NULL,
        judgement INTEGER NOT NULL REFERENCES judgements,
        undone INTEGER NOT NULL,
        judged_at TEXT,
        seconds REAL,
        PRIMARY KEY (topic, doc, annotator, counts_as)
    ) WITHOUT ROWID;;
    CREATE INDEX latest_judgements_annotator ON latest_judgements (annotator, judgement);;
    -- With `undone`, the index has all that JudgementTables.annotators reads.
    CREATE INDEX latest_judgements_times ON latest_judgements (annotator, seconds, judged_at, undone)
    WHERE NOT undone AND counts_as = 'judgement';;
    CREATE INDEX latest_judgements_undone ON latest_judgements (topic, doc) WHERE undone;;
    CREATE VIEW current_judgements AS
    SELECT topic, doc, annotator, counts_as, judgement FROM latest_judgements
    WHERE NOT undone AND counts_as <> 'surplus';;

    CREATE TABLE choices (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        annotator TEXT NOT NULL,
        topic INTEGER NOT NULL REFERENCES topics,
        kind TEXT NOT NULL CHECK (kind IN ('chosen', 'cannot judge', 'undone')),
        reason TEXT,
        judged_at TEXT NOT NULL,
        shown_at TEXT,
        seconds REAL CHECK (seconds BETWEEN 0 AND 1e9),
        away REAL CHECK (away BETWEEN 0 AND 1e9),
        source TEXT NOT NULL,
        note TEXT,
        revises INTEGER REFERENCES choices
    );;
    CREATE INDEX choices_annotator ON choices (annotator, topic);;
    -- The list as it was on screen.
    CREATE TABLE choice_documents (
        choice INTEGER NOT NULL REFERENCES choices,
        position INTEGER NOT NULL,
        doc INTEGER NOT NULL REFERENCES documents,
        chosen INTEGER NOT NULL CHECK (chosen IN (0, 1)),
        PRIMARY KEY (choice, position),
        UNIQUE (choice, doc)
    ) WITHOUT ROWID;;
    CREATE TABLE preferences (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        uuid TEXT NOT NULL UNIQUE,
        annotator TEXT NOT NULL,
        topic INTEGER NOT NULL REFERENCES topics,
        left_doc INTEGER NOT NULL REFERENCES documents,
        right_doc INTEGER NOT NULL REFERENCES documents CHECK (right_doc <> left_doc),
        kind TEXT NOT NULL CHECK (kind IN ('left', 'right', 'equal', 'cannot judge', 'undone')),
        reason TEXT,
        judged_at TEXT NOT NULL,
        shown_at TEXT,
        seconds REAL CHECK (seconds BETWEEN 0 AND 1e9),
        away REAL CHECK (away BETWEEN 0 AND 1e9),
        source TEXT NOT NULL,
        note TEXT,
        revises INTEGER REFERENCES preferences
    );;
    CREATE INDEX preferences_pair
    ON preferences (annotator, topic, min(left_doc, right_doc), max(left_doc, right_doc));;
    CREATE TRIGGER choices_keep_update BEFORE UPDATE ON choices
    BEGIN SELECT RAISE(ABORT, 'choices are an append-only log'); END;;
    CREATE TRIGGER choices_keep_delete BEFORE DELETE ON choices
    BEGIN SELECT RAISE(ABORT, 'choices are an append-only log'); END;;
    CREATE TRIGGER choice_documents_keep_update BEFORE UPDATE ON choice_documents
    BEGIN SELECT RAISE(ABORT, 'choices are an append-only log'); END;;
    CREATE TRIGGER choice_documents_keep_delete BEFORE DELETE ON choice_documents
    BEGIN SELECT RAISE(ABORT, 'choices are an append-only log'); END;;
    CREATE TRIGGER preferences_keep_update BEFORE UPDATE ON preferences
    BEGIN SELECT RAISE(ABORT, 'preferences are an append-only log'); END;;
    CREATE TRIGGER preferences_keep_delete BEFORE DELETE ON preferences
    BEGIN SELECT RAISE(ABORT, 'preferences are an append-only log'); END;;
    -- Each annotator's latest choice or preference, unless it was undone.
    CREATE VIEW current_choices AS
    SELECT c.* FROM choices AS c WHERE c.kind <> 'undone' AND c.id = (
        SELECT max(l.id) FROM choices AS l WHERE l.annotator = c.annotator AND l.topic = c.topic);;
    CREATE VIEW current_preferences AS
    SELECT p.* FROM preferences AS p WHERE p.kind <> 'undone' AND p.id = (
        SELECT max(l.id) FROM preferences AS l WHERE l.annotator = p.annotator AND l.topic = p.topic
        AND min(l.left_doc, l.right_doc) = min(p.left_doc, p.right_doc)
        AND max(l.left_doc, l.right_doc) = max(p.left_doc, p.right_doc));;
"""

register("m001_tables", _CAMPAIGN + COUNTS + MACHINE_LABELS)
register("m002_topic_fields", "ALTER TABLE topics ADD COLUMN fields TEXT NOT NULL DEFAULT '{}'")
# Answers of a decision to the further questions of the campaign: a JSON object with sorted keys, or null.
register("m003_answers", "ALTER TABLE judgements ADD COLUMN answers TEXT")
# The records of imported files of references: `doc` is the document that they belong to, `fields` their tags or columns
# with their texts (JSON, compressed by zlib), and `reason` why they are its duplicates, null for the one that made it.
# `undo` has what is needed to separate a merged pair.
register(
    "m004_records",
    """
    CREATE TABLE record_sources (
        source INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        database TEXT NOT NULL,
        form TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        imported_at TEXT NOT NULL,
        read INTEGER NOT NULL,
        skipped INTEGER NOT NULL,
        report TEXT NOT NULL
    );;
    CREATE TABLE records (
        record INTEGER PRIMARY KEY,
        source INTEGER NOT NULL REFERENCES record_sources,
        position INTEGER NOT NULL,
        line INTEGER NOT NULL,
        doc INTEGER NOT NULL REFERENCES documents,
        fields BLOB NOT NULL,
        reason TEXT,
        UNIQUE (source, position)
    );;
    CREATE INDEX records_doc ON records (doc);;
    CREATE TABLE record_pairs (
        pair INTEGER PRIMARY KEY,
        doc_a INTEGER NOT NULL REFERENCES documents,
        doc_b INTEGER NOT NULL REFERENCES documents CHECK (doc_b <> doc_a),
        reason TEXT NOT NULL,
        decision TEXT CHECK (decision IN ('duplicate', 'distinct')),
        decided_by TEXT,
        decided_at TEXT,
        undo TEXT,
        UNIQUE (doc_a, doc_b)
    );;
    """,
)
# Generated answers. `number` names an answer among those of its topic where its system must not be known; an answer
# that is replaced or removed keeps it, so that labels never seem to be of another one. `citations`: a JSON list of
# document ids. A row of the append-only log of nuggets is a nugget after an edit; its version changes with its text.
# `edit` is a uuid of all rows of an edit; rows of the kind 'undone' have that of the edit that they undo.
# `sources`: a JSON list of [doc_id, start, end] in characters of the text as it is shown (start and end null for a
# whole document); `origins`: the nuggets that it was merged or split from; `fields`: what a nugget bank has more.
register(
    "m005_generated_answers",
    """
    CREATE TABLE answers (
        answer INTEGER PRIMARY KEY,
        topic INTEGER NOT NULL REFERENCES topics,
        run TEXT NOT NULL,
        team TEXT NOT NULL,
        words INTEGER NOT NULL,
        stated_words INTEGER,
        number INTEGER NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1)),
        UNIQUE (topic, number)
    );;
    CREATE UNIQUE INDEX answers_run ON answers (topic, run) WHERE NOT removed;;
    CREATE TABLE answer_sentences (
        answer INTEGER NOT NULL REFERENCES answers,
        sentence INTEGER NOT NULL,
        text TEXT NOT NULL,
        citations TEXT NOT NULL,
        PRIMARY KEY (answer, sentence)
    ) WITHOUT ROWID;;
    CREATE TABLE nugget_log (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        topic INTEGER NOT NULL REFERENCES topics,
        nugget TEXT NOT NULL,
        version INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('added', 'changed', 'merged', 'split', 'moved', 'deleted', 'undone')),
        edit TEXT NOT NULL,
        text TEXT NOT NULL,
        importance TEXT NOT NULL CHECK (importance IN ('vital', 'okay', '')),
        weight REAL,
        position REAL NOT NULL,
        deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),
        sources TEXT NOT NULL,
        origins TEXT NOT NULL,
        fields TEXT NOT NULL,
        annotator TEXT NOT NULL,
        edited_at TEXT NOT NULL
    );;
    CREATE INDEX nugget_log_nugget ON nugget_log (topic, nugget);;
    CREATE TRIGGER nugget_log_keep_update BEFORE UPDATE ON nugget_log
    BEGIN SELECT RAISE(ABORT, 'nuggets are an append-only log'); END;;
    CREATE TRIGGER nugget_log_keep_delete BEFORE DELETE ON nugget_log
    BEGIN SELECT RAISE(ABORT, 'nuggets are an append-only log'); END;;
    CREATE VIEW current_nuggets AS
    SELECT * FROM nugget_log WHERE NOT deleted AND id IN (SELECT max(id) FROM nugget_log GROUP BY topic, nugget);;
    """,
)
# Several samples of a judge for a pair, such as answers of a model at a temperature above 0. Of each sample the first
# grade counts, before it the last reply or failure. A set can be renamed; what made its labels is never changed.
register(
    "m006_label_samples",
    """
    ALTER TABLE machine_labels ADD COLUMN sample INTEGER NOT NULL DEFAULT 1 CHECK (sample > 0);;
    DROP VIEW current_machine_labels;;
    CREATE VIEW current_machine_labels AS
    SELECT m.* FROM machine_labels AS m WHERE m.id = (
        SELECT l.id FROM machine_labels AS l
        WHERE l.label_set = m.label_set AND l.topic = m.topic AND l.doc = m.doc AND l.sample = m.sample
        ORDER BY l.status = 'graded' DESC, l.status = 'no grade' DESC,
            CASE l.status WHEN 'graded' THEN l.id ELSE -l.id END LIMIT 1);;
    DROP TRIGGER label_sets_keep_update;;
    CREATE TRIGGER label_sets_keep_update BEFORE UPDATE OF label_set, kind, settings, made_at ON label_sets
    BEGIN SELECT RAISE(ABORT, 'what made labels is never changed'); END;;
    """,
)
# How much a training round trusted the label set that led it; `conditions` name the label set.
register(
    "m007_label_trust",
    """
    CREATE TABLE label_trust (
        topic INTEGER NOT NULL REFERENCES topics,
        model_round INTEGER NOT NULL,
        conditions INTEGER NOT NULL REFERENCES loop_conditions,
        trust REAL NOT NULL CHECK (trust >= 0),
        PRIMARY KEY (topic, model_round, conditions)
    ) WITHOUT ROWID;;
    CREATE INDEX machine_labels_relevance ON machine_labels (label_set, relevance);;
    """,
)
