"""The demo: documents are what the names say, systems run, differ and repeat, topics are well formed."""

import hashlib
import importlib
import json
import logging
import os
import pydoc
import re
import runpy
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from annotate.views.campaign import tour
from collection import Campaign
from collection.core import frames
from collection.core.errors import CleverdonError, UnknownNameError
from collection.core.ranking import rank_run
from collection.core.records import GRADE_SCALES
from collection.demo import build
from collection.demo.build import ANNOTATORS, BY_BOTH, DATA, GUIDELINES, IN_LOOP, LABEL_SET, SHARE_TOO_HIGH
from collection.demo.documents import LIBRARIES, MIN_CHARACTERS, NAMESPACES, collect
from tests.helpers import ROOT, some

TOPICS = ROOT / "data" / "demo" / "topics.jsonl"
_systems = runpy.run_path(str(ROOT / "data" / "demo" / "systems.py"))
SYSTEMS, _parts, fuse, run_all = (_systems[name] for name in ("SYSTEMS", "_parts", "fuse", "run_all"))
SMALL = ("json", "csv", "statistics", "heapq", "bisect", "difflib", "textwrap")


@pytest.fixture(scope="module")
def documents():
    return list(collect(SMALL))


@pytest.fixture(scope="module")
def frame(documents):
    return pd.DataFrame(documents)[["doc_id", "title", "text"]]


@pytest.fixture(scope="module")
def topics():
    rows = [json.loads(line) for line in TOPICS.read_text(encoding="utf-8").splitlines()]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def runs(frame, topics):
    return {run.name: run.frame for run in run_all(frame, topics, depth=20)}


# documents


def test_a_document_is_the_docstring_of_its_name(documents):
    for document in some(documents):
        thing = pydoc.locate(document.doc_id)
        assert thing is not None, document.doc_id
        words = " ".join(re.sub(r" at 0x[0-9a-f]+", "", thing.__doc__).split())
        assert " ".join(document.text.split()) == words
        assert len(document.text) >= MIN_CHARACTERS
        assert document.title.startswith(document.doc_id)


def test_known_names_are_there(documents):
    ids = {d.doc_id for d in documents}
    assert {"json.loads", "json", "csv", "statistics.median", "heapq.merge", "bisect.bisect"} <= ids
    assert {"difflib.SequenceMatcher.ratio", "textwrap.TextWrapper"} <= ids


def test_metadata(documents):
    by_id = {d.doc_id: d.metadata for d in documents}
    assert by_id["json"]["kind"] == "module"
    assert by_id["json.loads"]["kind"] == "function"
    assert by_id["difflib.SequenceMatcher"]["kind"] == "class"
    assert by_id["difflib.SequenceMatcher.ratio"]["kind"] == "method"
    assert {m["library"] for m in by_id.values()} == {"stdlib"}
    assert {m["version"] for m in by_id.values()} == {sys.version.split()[0]}


def test_titles_carry_a_short_signature_without_self(documents):
    titles = {d.doc_id: d.title for d in documents}
    assert titles["heapq.merge"] == "heapq.merge(*iterables, key=None, reverse=False)"
    assert titles["difflib.SequenceMatcher.ratio"] == "difflib.SequenceMatcher.ratio()"
    assert titles["json"] == "json"
    assert max(map(len, titles.values())) < 200


def test_titles_have_no_path_of_this_machine():
    titles = {d.doc_id: d.title for d in collect(["platform"])}
    assert titles["platform.architecture"].startswith("platform.architecture(executable=...,")


def test_a_docstring_with_a_nul_character_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        json.loads, "__doc__", "Pads the input with b'\0' " + "until it is long enough to be a document. " * 5
    )
    (document,) = (d for d in collect(["json"]) if d.doc_id == "json.loads")
    assert r"with b'\0' until" in document.text


def test_no_name_and_no_text_twice(documents):
    assert len({d.doc_id for d in documents}) == len(documents)
    assert len({" ".join(d.text.split()) for d in documents}) == len(documents)


def test_inherited_methods_stay_where_they_are_defined():
    ids = {d.doc_id for d in collect(["json", "collections"])}
    assert "collections.Counter.most_common" in ids
    assert not any(i.startswith(("collections.Counter.pop", "json.JSONDecodeError.")) for i in ids)


def test_nothing_private_or_deprecated():
    documents = list(collect(["threading", "unittest", "abc"]))
    assert not [d.doc_id for d in documents if any(p.startswith("_") for p in d.doc_id.split("."))]
    ids = {d.doc_id for d in documents}
    assert "threading.Thread.join" in ids
    assert not ids & {"threading.Thread.getName", "threading.Event.isSet", "abc.abstractproperty"}


def test_builtins_have_no_prefix():
    ids = {d.doc_id for d in collect(["builtins"])}
    assert {"sorted", "str.split", "dict"} <= ids
    assert not any(i.startswith("builtins.") for i in ids)


@pytest.mark.slow
@pytest.mark.long
def test_same_documents_in_another_process_with_another_hash_seed(documents):
    code = (
        "import hashlib; from collection.demo.documents import collect;"
        f"print(hashlib.sha256(repr(list(collect({SMALL!r}))).encode()).hexdigest())"
    )
    here = hashlib.sha256(repr(list(collect(SMALL))).encode()).hexdigest()
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env={"PYTHONHASHSEED": seed}
    )
    assert there.stdout.strip() == here
    assert list(collect(SMALL)) == documents


@pytest.mark.slow
@pytest.mark.long
def test_numpy_is_the_same_after_scipy_was_imported():
    """scipy.special rewrites a docstring of NumPy when it is imported."""
    codes = [
        f"{before}; from collection.demo.documents import collect; print(list(collect(['numpy'])))"
        for before in ("import numpy", "import scipy.special")
    ]
    texts = {
        subprocess.run([sys.executable, "-c", c], capture_output=True, text=True, check=True, cwd=ROOT).stdout
        for c in codes
    }
    assert len(texts) == 1


def test_progress_counts_namespaces():
    calls = []
    list(collect(["json", "csv", "json"], lambda *call: calls.append(call)))
    assert calls == [("stdlib", 1, 2), ("stdlib", 2, 2)]


def test_unknown_library_is_told_at_the_call():
    with pytest.raises(UnknownNameError, match="did you mean 'numpy'"):
        collect(["numpi"])


def test_collecting_leaves_logging_and_warnings_as_they_were(capsys):
    disabled, filters = logging.root.manager.disable, list(warnings.filters)
    iterator = collect(["json", "csv"])
    next(iterator)
    assert logging.root.manager.disable == disabled
    assert list(warnings.filters) == filters
    list(iterator)
    assert capsys.readouterr() == ("", "")


# topics


def test_topics_are_well_formed(topics):
    assert tuple(topics.columns) == frames.TOPICS.names
    assert len(topics) >= 30
    assert topics["query_id"].tolist() == [str(i) for i in range(1, len(topics) + 1)]
    assert topics["title"].is_unique
    for column in ("title", "description", "narrative"):
        assert topics[column].map(lambda text: isinstance(text, str) and text == text.strip() != "").all()
    assert topics["title"].str.len().max() <= 80
    for grade in ("Grade 3:", "Grade 2:", "Grade 1:", "Grade 0:"):
        assert topics["narrative"].str.count(grade).eq(1).all()


# systems


def test_the_table_of_systems():
    names = [entry.name for entry in SYSTEMS]
    assert names == ["bm25", "bm25-long", "tfidf", "chargrams", "lsi", "title-only", "rocchio", "fusion"]
    for entry in SYSTEMS:
        assert entry.parameters["depth"] == 100
        assert entry.description.endswith(".")


@pytest.mark.parametrize("name", [entry.name for entry in SYSTEMS])
def test_every_system_gives_a_sound_run(name, runs, frame, topics):
    run = runs[name]
    assert tuple(run.columns) == frames.RUN.names
    assert run.groupby("query_id").size().between(1, 20).all()
    assert not run.duplicated(["query_id", "doc_id"]).any()
    assert set(run["doc_id"]) <= set(frame["doc_id"])
    assert set(run["query_id"]) <= set(topics["query_id"])
    assert np.isfinite(run["score"]).all()
    assert (run["score"] > 0).all()


@pytest.mark.parametrize("name", [entry.name for entry in SYSTEMS])
@pytest.mark.slow
def test_a_system_repeats_itself_and_does_not_mind_the_order_of_documents(name, runs, frame, topics):
    again = rank_run(SYSTEMS[name].function(frame, topics, depth=20))
    pd.testing.assert_frame_equal(again, runs[name])
    if name not in ("lsi", "fusion"):  # a random projection of other rows is another projection
        shuffled = frame.sample(frac=1, random_state=3)
        pd.testing.assert_frame_equal(rank_run(SYSTEMS[name].function(shuffled, topics, depth=20)), again)


def test_systems_differ_from_each_other(runs):
    rankings = {name: tuple(run["doc_id"]) for name, run in runs.items()}
    assert len(set(rankings.values())) == len(rankings)


def test_systems_find_what_they_should(runs):
    def first(name, query_id, depth=5):
        run = runs[name]
        return set(run.loc[(run["query_id"] == query_id) & (run["rank"] <= depth), "doc_id"])

    merge, similarity, wrap = "32", "2", "16"
    assert "heapq.merge" in first("bm25", merge)
    assert "heapq.merge" in first("fusion", merge)
    assert "difflib.SequenceMatcher.ratio" in first("tfidf", similarity)
    assert "textwrap.wrap" in first("title-only", wrap)


@pytest.mark.slow
def test_operators_and_quotes_in_a_query_are_words(frame):
    nasty = ['NOT "merge" OR', "heap* AND (sorted", "NEAR(merge, 2) -sorted : ^x", "...", "the of"]
    topics = pd.DataFrame([[str(i), text, text, ""] for i, text in enumerate(nasty)], columns=frames.TOPICS.names)
    for entry in SYSTEMS:
        entry.function(frame, topics, depth=5)
    found = SYSTEMS["bm25"].function(frame, topics, depth=5)
    assert {"0", "1", "2"} <= set(found["query_id"])
    assert "3" not in set(found["query_id"])


def test_ties_go_to_the_greater_id():
    documents = pd.DataFrame({"doc_id": ["a", "c", "b"], "title": "heap", "text": "queue"})
    topics = pd.DataFrame([["1", "heap", "", ""]], columns=frames.TOPICS.names)
    for name in ("bm25", "tfidf", "chargrams", "title-only"):
        found = SYSTEMS[name].function(documents, topics, depth=2)
        assert found["doc_id"].tolist() == ["c", "b"], name


def test_fusion_is_the_sum_of_reciprocal_ranks():
    one = pd.DataFrame({"query_id": "1", "doc_id": ["a", "b"], "rank": [1, 2]})
    two = pd.DataFrame({"query_id": "1", "doc_id": ["b", "c"], "rank": [1, 2]})
    fused = fuse([one, two], depth=2, k=60)
    assert fused["doc_id"].tolist() == ["b", "a"]
    assert fused["score"].tolist() == pytest.approx([1 / 62 + 1 / 61, 1 / 61])


def test_names_are_split_at_dots_underscores_and_capitals():
    assert _parts("sklearn.svm.LinearSVC(max_iter=1000)") == [
        "sklearn",
        "svm",
        "linear",
        "svc",
        "max",
        "iter",
        "1000",
    ]
    assert _parts("html.parser.HTMLParser") == ["html", "parser", "html", "parser"]


@pytest.mark.slow
def test_the_fusion_runs_last(frame, topics):
    names = [run.name for run in run_all(frame, topics.head(2), 5)]
    assert len(names) == len(SYSTEMS)
    assert names[-1] == "fusion"


# the whole collection


@pytest.mark.slow
@pytest.mark.long
def test_the_whole_collection(capsys):
    with warnings.catch_warnings(record=True) as caught:
        documents = list(collect())
    assert capsys.readouterr() == ("", "")
    assert not caught
    assert 5_000 <= len(documents) <= 12_000
    ids = [d.doc_id for d in documents]
    assert len(set(ids)) == len(ids)
    assert not [i for i in ids if any(p.startswith("_") for p in i.split("."))]
    assert not [i for i in ids if re.search(r"\.(tests|conftest)\b", i)]
    per_library = pd.Series([d.metadata["library"] for d in documents]).value_counts()
    assert set(per_library.index) == set(LIBRARIES) == set(NAMESPACES)
    assert per_library.min() >= 200
    named = """
        pandas.DataFrame.rolling pandas.read_csv pandas.Series.str.contains
        pandas.api.typing.Rolling.mean numpy.quantile numpy.linalg.solve
        numpy.random.Generator.choice scipy.stats.pearsonr scipy.optimize.brentq scipy.stats.norm
        sklearn.linear_model.LogisticRegression sklearn.base.ClassifierMixin.score
        streamlit.cache_data streamlit.file_uploader streamlit.column_config.NumberColumn json.loads
        pathlib.Path.glob itertools.groupby sorted str.split
    """
    assert set(named.split()) <= set(ids)
    cached = next(d for d in documents if d.doc_id == "streamlit.cache_data")
    assert cached.text.startswith("Decorator to cache functions")


# the campaign


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    directory = tmp_path_factory.mktemp("demo") / "campaign"
    report = build(directory)
    with Campaign(directory) as campaign:
        yield campaign, report


def test_an_error_closes_the_unfinished_demo(tmp_path, monkeypatch):
    module, closed, close = importlib.import_module("collection.demo.build"), [], Campaign.close
    monkeypatch.setattr(module, "_write_documents", lambda *_: set())  # but no file
    monkeypatch.setattr(module, "_write_runs", lambda *_: ([], 0))
    monkeypatch.setattr(Campaign, "close", lambda campaign: closed.append(close(campaign)))
    with pytest.raises(CleverdonError), module.unjudged(tmp_path / "campaign", tmp_path):
        pass
    assert len(closed) == 2


def test_the_stored_judgements_are_derived_from_the_stored_grades(monkeypatch):
    given, simulated = (
        [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
        for name in ("judgements.jsonl", "simulated.jsonl")
    )
    grades = {(row["annotator"], row["query_id"], row["doc_id"]): row["relevance"] for row in given}
    assert {row["source"] for row in simulated} == {"simulated"}
    monkeypatch.syspath_prepend(str(DATA))
    simulate = runpy.run_path(str(DATA / "simulate.py"))
    for annotator in (simulate[name] for name in ("FAST", "SLOW", "LOOP")):
        assert annotator.name.startswith("simulated")
        rows = [row for row in simulated if row["annotator"] == annotator.name]
        away = [row["relevance"] - grades[annotator.source, row["query_id"], row["doc_id"]] for row in rows]
        assert set(away) <= {-1, 0, 1}
        wrong = sum(map(abs, away))
        assert 0 < wrong <= 2 * annotator.errors * len(rows) + 2
        assert all(1 <= row["seconds"] <= 300 for row in rows)


def test_guidelines_define_grades_as_the_scale_does():
    """The models judged by the scale and the narratives, so the guidelines must not define grades in another way."""
    rules = dict(re.findall(r"^- \*\*(\d)\*\* (.+)$", GUIDELINES, re.MULTILINE))
    scale = GRADE_SCALES["0-3"]
    assert list(map(int, rules)) == sorted(scale.sentences, reverse=True)
    for grade, rule in rules.items():
        sentence = scale.sentences[int(grade)].replace("answer", "solve").replace("the topic", "the problem")
        label, meaning = sentence.split(": ")
        assert rule.startswith(f"{label}: it {meaning}")


@pytest.mark.slow
def test_the_demo_tells_the_whole_story(built):
    campaign, report = built
    # Tests replace docstrings in their process (two hooks of the interpreter), and each Python has its own.
    lacking = [re.search(r"lack .*?(\d+) (?:documents|judgements?)", notice) for notice in report.notices]
    assert all(found and int(found[1]) < 50 for found in lacking)
    status = campaign.results.overview.status()
    by_topic = {row["query_id"]: row for row in status["per_topic"]}
    # Judged by two to the end: agreement, with disagreements to adjudicate. Each document that this Python lacks may
    # let another one into the pool, which nobody has judged.
    assert sum(by_topic[q]["left"] for q in BY_BOTH) <= sum(2 * int(found[1]) for found in lacking if found)
    assert len(campaign.judging.adjudication.queue()) > 20
    # In the loop: one topic half judged, one ready to stop before all is judged.
    recall = campaign.recall.table().set_index("query_id")
    unfinished, finished = (recall.loc[q] for q in IN_LOOP)
    assert not unfinished["stop"]
    assert by_topic["1"]["left"] > 20
    assert finished["stop"]
    assert tour.STOPS[2][0] == "See whether judging can stop"  # the next judgements may change the advice
    assert by_topic["7"]["left"] >= 5
    assert campaign.settings.modes()["1"] == campaign.settings.modes()["7"] == "loop-in-pool"
    assert campaign.settings.tour()
    # Machine labels, often a grade higher than people's.
    [summary] = campaign.machine_labels.sets.summaries()
    assert (summary.name, summary.kind) == (LABEL_SET, "llm")
    labels = campaign.machine_labels.sets.labels(LABEL_SET).merge(
        campaign.store.judgements.table(), on=["query_id", "doc_id"], suffixes=("_label", "")
    )
    higher = labels["relevance_label"] - labels["relevance"]
    assert len(labels) > 800
    assert 0.1 < higher.mean() < SHARE_TOO_HIGH
    # Annotators differ in pace.
    seconds = campaign.results.agreement.annotator_statistics().facts.set_index("annotator")["seconds"]
    assert seconds["simulated-2"] > 1.5 * seconds["simulated-1"]


@pytest.mark.slow
def test_the_runs_are_worth_pooling(built):
    """Different enough to find more together, alike enough to be about the same topics."""
    campaign, _ = built
    runs = list(campaign.corpus.runs())
    assert len(runs) == len(SYSTEMS)
    pool = pd.concat([r.frame[r.frame["rank"] <= 10] for r in runs]).drop_duplicates(["query_id", "doc_id"])
    assert 20 <= len(pool) / len(campaign.store.corpus.topics()) <= 60


@pytest.mark.slow
@pytest.mark.long
def test_the_next_judgement_of_the_demo_is_answered_by_the_model(built):
    campaign, _ = built
    topic = next(iter(IN_LOOP))
    before = campaign.loop.next_round(topic, 5)
    assert before.strategy == "model"
    [document] = campaign.judging.next_pairs("ann", topic, 1).documents
    campaign.judging.judge("ann", topic, document.doc_id, 0)
    after = campaign.loop.next_round(topic, 5)
    assert after.model_round == before.model_round + 1
    assert document.doc_id not in [chosen.doc_id for chosen in after.selections]


@pytest.mark.slow
def test_the_demo_compares_systems_that_differ_and_some_that_do_not(built):
    campaign, _ = built
    tests = campaign.results.evaluation.compare(["nDCG@10"]).tests
    assert tests["significant"].any()
    assert not tests["significant"].all()
    assert campaign.results.evaluation.reusability().verdict


@pytest.mark.slow
@pytest.mark.long
def test_two_demos_are_the_same_campaign(built, tmp_path):
    build(tmp_path / "again")
    with Campaign(tmp_path / "again") as again:
        first, second = (c.store.judgements.table() for c in (built[0], again))
        there, here = (c.machine_labels.sets.labels(LABEL_SET) for c in (built[0], again))
        pairs = ["query_id", "doc_id"]
        assert here.merge(there, on=pairs, how="left").eval("relevance_x == relevance_y").all()
        shared = first["annotator"].isin(ANNOTATORS)
        pd.testing.assert_frame_equal(first[shared].reset_index(drop=True), second)
        assert again.id == built[0].id
        assert again.recall.table().equals(built[0].recall.table()) or not shared.all()


@pytest.mark.slow
def test_documents_that_this_machine_lacks_are_left_out(tmp_path, monkeypatch):
    every = list(collect(SMALL))
    monkeypatch.setattr(sys.modules["collection.demo.build"], "collect", lambda progress: iter(every))
    report = build(tmp_path / "demo")
    assert len(report.notices) == 2
    with Campaign(tmp_path / "demo") as campaign:
        assert len(campaign.store.corpus.missing_documents()) == 0
        assert campaign.store.judgements.counts()["pool"] > 0
