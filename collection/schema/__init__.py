"""The tables of campaign.db, as numbered migrations.

A migration that was in a release is never edited, since campaigns were made with it: a change is a new one at the end.
Each runs in one transaction with the record that it has run. Statements end with ``;;``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlite_utils.migrations import Migrations

from collection.schema.counts import COUNTS, REMOVAL
from collection.schema.machine_labels import FIRST_LABELS, MACHINE_LABELS

if TYPE_CHECKING:
    from sqlite_utils.db import Database

migrations = Migrations("cleverdon")


SCRIPTS = {
    # Settings, topics, documents, runs, and the pool with the reason for each pair.
    "m001_campaign": """
        CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;;

        CREATE TABLE topics (
            topic INTEGER PRIMARY KEY,
            query_id TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            description TEXT NOT NULL,
            narrative TEXT NOT NULL
        );;

        -- text is null where a run or qrels named the document and its text was never imported.
        CREATE TABLE documents (
            doc INTEGER PRIMARY KEY,
            doc_id TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL DEFAULT '',
            text TEXT,
            metadata TEXT NOT NULL DEFAULT '{}'
        );;

        CREATE TABLE runs (
            run TEXT PRIMARY KEY,
            file TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            topics INTEGER NOT NULL,
            rows INTEGER NOT NULL,
            deepest INTEGER NOT NULL,
            imported_at TEXT NOT NULL
        ) WITHOUT ROWID;;

        CREATE TABLE pool_rounds (
            pool_round INTEGER PRIMARY KEY,
            strategy TEXT NOT NULL,
            parameters TEXT NOT NULL,
            runs TEXT NOT NULL,
            pairs INTEGER NOT NULL,
            made_at TEXT NOT NULL
        );;

        -- A pair enters the pool once, by the round that first wanted it.
        CREATE TABLE pool (
            topic INTEGER NOT NULL REFERENCES topics,
            pool_round INTEGER NOT NULL REFERENCES pool_rounds,
            position INTEGER NOT NULL,
            doc INTEGER NOT NULL REFERENCES documents,
            rank INTEGER NOT NULL,
            probability REAL,
            PRIMARY KEY (topic, pool_round, position)
        ) WITHOUT ROWID;;
        CREATE UNIQUE INDEX pool_pair ON pool (topic, doc);;
    """,
    # The append-only log, its current state, leases and skips.
    "m002_judgements": """
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
            revises INTEGER REFERENCES judgements
        );;
        CREATE TRIGGER judgements_keep_update BEFORE UPDATE ON judgements
        BEGIN SELECT RAISE(ABORT, 'judgements are an append-only log'); END;;
        CREATE TRIGGER judgements_keep_delete BEFORE DELETE ON judgements
        BEGIN SELECT RAISE(ABORT, 'judgements are an append-only log'); END;;

        -- Each annotator's last word on each pair, kept by the database in the transaction of the insert.
        CREATE TABLE last_words (
            topic INTEGER NOT NULL,
            doc INTEGER NOT NULL,
            annotator TEXT NOT NULL,
            judgement INTEGER NOT NULL REFERENCES judgements,
            open INTEGER NOT NULL,
            PRIMARY KEY (topic, doc, annotator)
        ) WITHOUT ROWID;;
        CREATE TRIGGER judgements_last_word AFTER INSERT ON judgements
        BEGIN
            INSERT INTO last_words (topic, doc, annotator, judgement, open)
            VALUES (NEW.topic, NEW.doc, NEW.annotator, NEW.id, NEW.kind = 'undone')
            ON CONFLICT (topic, doc, annotator)
            DO UPDATE SET judgement = excluded.judgement, open = excluded.open;
        END;;
        CREATE INDEX last_words_annotator ON last_words (annotator, judgement);;
        -- What is judged now: the last word on a pair, unless it was taken back.
        CREATE VIEW current_judgements AS
        SELECT j.* FROM last_words AS l JOIN judgements AS j ON j.id = l.judgement WHERE NOT l.open;;

        CREATE TABLE leases (
            topic INTEGER NOT NULL REFERENCES topics,
            doc INTEGER NOT NULL REFERENCES documents,
            annotator TEXT NOT NULL,
            until REAL NOT NULL,
            PRIMARY KEY (topic, doc, annotator)
        ) WITHOUT ROWID;;

        CREATE TABLE skips (
            topic INTEGER NOT NULL REFERENCES topics,
            doc INTEGER NOT NULL REFERENCES documents,
            annotator TEXT NOT NULL,
            skipped_at REAL NOT NULL,
            PRIMARY KEY (topic, doc, annotator, skipped_at)
        ) WITHOUT ROWID;;
    """,
    # One-time sign-in links; only a digest of each is kept.
    "m003_signin_links": """
        CREATE TABLE signin_links (
            digest TEXT PRIMARY KEY,
            annotator TEXT NOT NULL,
            made_at TEXT NOT NULL,
            used_at TEXT
        ) WITHOUT ROWID;;
    """,
    # What runs cost (latency, price, ...), as far as somebody said so: one JSON object a run.
    "m004_run_costs": """
        CREATE TABLE run_costs (
            run TEXT PRIMARY KEY,
            costs TEXT NOT NULL
        ) WITHOUT ROWID;;
    """,
    # What the loop needs: how a pair that is handed out came up, the mode of a topic, and full-text search.
    "m005_loop": """
        ALTER TABLE leases ADD COLUMN strategy TEXT;;
        ALTER TABLE leases ADD COLUMN pool_rank INTEGER;;
        ALTER TABLE leases ADD COLUMN model_round INTEGER;;
        ALTER TABLE leases ADD COLUMN probability REAL;;

        -- Topics that are not here, or have null, have the campaign's mode; one that is closed keeps its mode.
        CREATE TABLE topic_modes (
            topic INTEGER PRIMARY KEY REFERENCES topics,
            mode TEXT,
            closed INTEGER NOT NULL DEFAULT 0
        );;
        CREATE INDEX documents_without_text ON documents (doc) WHERE text IS NULL;;
        CREATE INDEX leases_annotator ON leases (annotator, until);;
        CREATE INDEX judgements_pair ON judgements (topic, doc, annotator);;

        -- The words of the documents that have a text; the text itself stays where it is.
        CREATE VIRTUAL TABLE documents_fts USING fts5 (
            title, text, content = 'documents', content_rowid = 'doc', tokenize = 'unicode61 remove_diacritics 2'
        );;
        CREATE TRIGGER documents_fts_insert AFTER INSERT ON documents WHEN NEW.text IS NOT NULL
        BEGIN
            INSERT INTO documents_fts (rowid, title, text) VALUES (NEW.doc, NEW.title, NEW.text);
        END;;
        CREATE TRIGGER documents_fts_update AFTER UPDATE OF title, text ON documents
        BEGIN
            INSERT INTO documents_fts (documents_fts, rowid, title, text)
            SELECT 'delete', OLD.doc, OLD.title, OLD.text WHERE OLD.text IS NOT NULL;
            INSERT INTO documents_fts (rowid, title, text)
            SELECT NEW.doc, NEW.title, NEW.text WHERE NEW.text IS NOT NULL;
        END;;
        INSERT INTO documents_fts (rowid, title, text)
        SELECT doc, title, text FROM documents WHERE text IS NOT NULL;;
    """,
    # Accounts, sessions and groups; who judges which topic; adjudications beside judgements; notes.
    "m006_people": """
        -- `name` is the annotator of the log. The password is a hash by argon2, null until one is chosen.
        CREATE TABLE accounts (
            name TEXT PRIMARY KEY COLLATE NOCASE,
            role TEXT NOT NULL CHECK (role IN ('manager', 'annotator', 'reader')),
            email TEXT UNIQUE COLLATE NOCASE,
            password TEXT,
            locked INTEGER NOT NULL DEFAULT 0,
            made_at TEXT NOT NULL
        ) WITHOUT ROWID;;

        -- One row for each browser that is signed in; only a digest of its key is kept.
        CREATE TABLE sessions (
            digest TEXT PRIMARY KEY,
            account TEXT NOT NULL REFERENCES accounts ON DELETE CASCADE,
            opened_at TEXT NOT NULL,
            until REAL NOT NULL
        ) WITHOUT ROWID;;
        CREATE INDEX sessions_account ON sessions (account);;
        ALTER TABLE signin_links ADD COLUMN until REAL;;
        ALTER TABLE signin_links ADD COLUMN invitation INTEGER NOT NULL DEFAULT 0;;

        CREATE TABLE memberships (
            group_name TEXT NOT NULL,
            account TEXT NOT NULL COLLATE NOCASE REFERENCES accounts ON DELETE CASCADE,
            PRIMARY KEY (group_name, account)
        ) WITHOUT ROWID;;

        -- A topic that has no row here is open to everybody who judges.
        CREATE TABLE assignments (
            topic INTEGER NOT NULL REFERENCES topics,
            kind TEXT NOT NULL CHECK (kind IN ('account', 'group')),
            name TEXT NOT NULL COLLATE NOCASE,
            PRIMARY KEY (topic, kind, name)
        ) WITHOUT ROWID;;
        ALTER TABLE topics ADD COLUMN note TEXT NOT NULL DEFAULT '';;
        -- Long texts, which whoever reads the settings does not want: the guidelines.
        CREATE TABLE texts (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;;
        -- How many annotators judge the pair.
        ALTER TABLE pool ADD COLUMN wanted INTEGER NOT NULL DEFAULT 1;;

        -- Pairs that everybody judges first.
        CREATE TABLE calibration (
            topic INTEGER NOT NULL REFERENCES topics,
            position INTEGER NOT NULL,
            doc INTEGER NOT NULL REFERENCES documents,
            PRIMARY KEY (topic, position),
            UNIQUE (topic, doc)
        ) WITHOUT ROWID;;
        -- With the rowid behind it: the newest entries of a topic.
        CREATE INDEX judgements_topic ON judgements (topic);;
        ALTER TABLE judgements ADD COLUMN note TEXT;;
        ALTER TABLE judgements ADD COLUMN counts_as TEXT NOT NULL DEFAULT 'judgement'
            CHECK (counts_as IN ('judgement', 'adjudication', 'surplus'));;
        -- Somebody who adjudicates a pair that they have judged has two last words on it.
        DROP TRIGGER judgements_last_word;;
        DROP VIEW current_judgements;;
        ALTER TABLE last_words RENAME TO last_words_before;;
        CREATE TABLE last_words (
            topic INTEGER NOT NULL,
            doc INTEGER NOT NULL,
            annotator TEXT NOT NULL,
            counts_as TEXT NOT NULL,
            judgement INTEGER NOT NULL REFERENCES judgements,
            open INTEGER NOT NULL,
            PRIMARY KEY (topic, doc, annotator, counts_as)
        ) WITHOUT ROWID;;
        INSERT INTO last_words SELECT topic, doc, annotator, 'judgement', judgement, open FROM last_words_before;;
        DROP TABLE last_words_before;;
        CREATE INDEX last_words_annotator ON last_words (annotator, judgement);;
        CREATE TRIGGER judgements_last_word AFTER INSERT ON judgements
        BEGIN
            INSERT INTO last_words (topic, doc, annotator, counts_as, judgement, open)
            VALUES (NEW.topic, NEW.doc, NEW.annotator, NEW.counts_as, NEW.id, NEW.kind = 'undone')
            ON CONFLICT (topic, doc, annotator, counts_as)
            DO UPDATE SET judgement = excluded.judgement, open = excluded.open;
        END;;
        CREATE VIEW current_judgements AS
        SELECT j.* FROM last_words AS l JOIN judgements AS j ON j.id = l.judgement
        WHERE NOT l.open AND l.counts_as <> 'surplus';;
        -- Last words that count: not taken back, and not beyond what was wanted.
        CREATE VIEW words AS
        SELECT topic, doc, annotator, counts_as, judgement FROM last_words
        WHERE NOT open AND counts_as <> 'surplus';;
    """,
    # What the card takes down with a judgement; choices from lists, preferences between two; each annotator's card.
    "m007_card": """
        ALTER TABLE judgements ADD COLUMN away REAL CHECK (away BETWEEN 0 AND 1e9);;
        ALTER TABLE judgements ADD COLUMN flagged INTEGER NOT NULL DEFAULT 0 CHECK (flagged IN (0, 1));;
        -- A JSON list of [start, end] in characters of the text as it is shown; null for none.
        ALTER TABLE judgements ADD COLUMN passages TEXT;;
        DROP VIEW current_judgements;;
        CREATE VIEW current_judgements AS
        SELECT j.* FROM last_words AS l JOIN judgements AS j ON j.id = l.judgement
        WHERE NOT l.open AND l.counts_as <> 'surplus';;

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
        -- Each annotator's last word; what was taken back is none.
        CREATE VIEW current_choices AS
        SELECT c.* FROM choices AS c WHERE c.kind <> 'undone' AND c.id = (
            SELECT max(l.id) FROM choices AS l WHERE l.annotator = c.annotator AND l.topic = c.topic);;
        CREATE VIEW current_preferences AS
        SELECT p.* FROM preferences AS p WHERE p.kind <> 'undone' AND p.id = (
            SELECT max(l.id) FROM preferences AS l WHERE l.annotator = p.annotator AND l.topic = p.topic
            AND min(l.left_doc, l.right_doc) = min(p.left_doc, p.right_doc)
            AND max(l.left_doc, l.right_doc) = max(p.left_doc, p.right_doc));;

        -- Whole topics in the hands of an annotator, where lists are chosen from or preferences are given.
        CREATE TABLE claims (
            topic INTEGER NOT NULL REFERENCES topics,
            annotator TEXT NOT NULL,
            until REAL NOT NULL,
            PRIMARY KEY (topic, annotator)
        ) WITHOUT ROWID;;
        -- How each annotator has arranged the card: a JSON object that only the card reads.
        CREATE TABLE card_settings (annotator TEXT PRIMARY KEY, settings TEXT NOT NULL) WITHOUT ROWID;;
    """,
    # Strata of sampled pools and what was left out of a sample; clicks from logs, apart from people's judgements.
    "m008_samples": """
        ALTER TABLE pool ADD COLUMN stratum INTEGER;;

        -- What a sample was drawn from and did not draw: the qrels need it to weigh what was drawn.
        CREATE TABLE sampled_out (
            topic INTEGER NOT NULL REFERENCES topics,
            doc INTEGER NOT NULL REFERENCES documents,
            pool_round INTEGER NOT NULL REFERENCES pool_rounds,
            stratum INTEGER,
            probability REAL,
            PRIMARY KEY (topic, doc, pool_round)
        ) WITHOUT ROWID;;

        -- How often a document was shown at a rank, and how often it was clicked there, by the file that says so.
        CREATE TABLE clicks (
            source TEXT NOT NULL,
            topic INTEGER NOT NULL REFERENCES topics,
            doc INTEGER NOT NULL REFERENCES documents,
            rank INTEGER NOT NULL CHECK (rank >= 1),
            shown INTEGER NOT NULL CHECK (shown >= 0),
            clicked INTEGER NOT NULL CHECK (clicked BETWEEN 0 AND shown),
            PRIMARY KEY (source, topic, doc, rank)
        ) WITHOUT ROWID;;
    """,
    # CorpusTables.add_documents adds new texts to the full-text index in large steps, which is twice as fast.
    "m009_index_in_steps": """
        DROP TRIGGER documents_fts_insert;;
    """,
    # Counts and times that the database keeps.
    "m010_counts": COUNTS,
    # What a person needs to recognise each of their sessions.
    "m011_session_devices": """
        ALTER TABLE sessions ADD COLUMN device TEXT;;
        ALTER TABLE sessions ADD COLUMN address TEXT;;
        ALTER TABLE sessions ADD COLUMN seen_at REAL;;
    """,
    # Labels by models, rules and clicks, and the sample that people judge beside them.
    "m012_machine_labels": MACHINE_LABELS,
    "m013_first_labels": FIRST_LABELS,
    # Pairs that leave the pool again, and how many each round has lost.
    "m014_removal": REMOVAL,
    # Where a reserved pair or topic is (0 on screen, otherwise its place behind that; null: in a work list), and since
    # when. Earlier reservations count as on screen, except those that only a work list has: the longest ones.
    "m015_reservations": """
        ALTER TABLE leases ADD COLUMN ahead INTEGER DEFAULT 0;;
        ALTER TABLE leases ADD COLUMN since REAL;;
        UPDATE leases SET ahead = NULL WHERE until > strftime('%s', 'now') + 60 * coalesce(
            (SELECT json_extract(value, '$.lease') FROM settings WHERE key = 'assignment'), 60);;
        ALTER TABLE claims ADD COLUMN ahead INTEGER DEFAULT 0;;
        ALTER TABLE claims ADD COLUMN since REAL;;
    """,
    # The conditions under which the loop handed a pair out; null for pairs that the loop did not choose.
    "m016_loop_conditions": """
        -- Each set of conditions once, as JSON; 0 stands for those that were not recorded before this migration.
        CREATE TABLE loop_conditions (id INTEGER PRIMARY KEY, conditions TEXT NOT NULL UNIQUE);;
        INSERT INTO loop_conditions VALUES (0, '');;
        ALTER TABLE leases ADD COLUMN conditions INTEGER REFERENCES loop_conditions;;
        UPDATE leases SET conditions = 0 WHERE strategy IS NOT 'search' AND strategy IS NOT 'overlap';;
        -- The log is never changed, so the default marks its earlier entries.
        ALTER TABLE judgements ADD COLUMN conditions INTEGER DEFAULT 0;;
        CREATE INDEX last_words_open ON last_words (topic, doc) WHERE open;;
    """,
    # The topics that a run names, with a digest of its ranking of each. Runs of earlier imports have none.
    "m017_run_topics": """
        CREATE TABLE run_topics (
            run TEXT NOT NULL,
            query_id TEXT NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (run, query_id)
        ) WITHOUT ROWID;;
        CREATE INDEX run_topics_by_topic ON run_topics (query_id);;
    """,
}


def _register(name: str, script: str) -> None:
    @migrations(name=name)
    def run(db: Database) -> None:
        # One statement at a time: executescript() would commit the migration's own transaction first.
        for statement in script.split(";;"):
            if statement.strip():
                db.execute(statement)


for _name, _script in SCRIPTS.items():
    _register(_name, _script)
