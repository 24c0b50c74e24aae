"""Fields of topics: files as tracks publish them (made up after their descriptions), read, kept and written back."""

import json
import random
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from collection import formats
from collection.campaign import Campaign
from collection.core.errors import ConflictError, FormatError
from collection.core.records import Topic
from collection.core.topic_fields import (
    DEEPEST,
    Turn,
    full_narrative,
    read_context,
    spell_fields,
    to_frame,
    to_topics,
    topic_text,
)
from collection.formats.topics import LONGEST_CONVERSATION
from tests.helpers import cases, ok, run, tries


def user(text: str) -> dict[str, str]:
    return {"speaker": "user", "text": text}


def system(text: str) -> dict[str, str]:
    return {"speaker": "system", "text": text}


CAST_2019 = [
    {
        "number": 31,
        "title": "trams",
        "description": "About trams.",
        "turn": [
            {"number": 1, "raw_utterance": "What is a tram?"},
            {"number": 2, "raw_utterance": "Is it fast?"},
        ],
    }
]
CAST_2020 = [
    {
        "number": 81,
        "turn": [
            {
                "number": 1,
                "raw_utterance": "What is a tram?",
                "manual_rewritten_utterance": "What is a tram?",
                "automatic_rewritten_utterance": "What is a tram?",
                "manual_canonical_result_id": "MARCO_1",
            },
            {
                "number": 2,
                "raw_utterance": "Is it fast?",
                "manual_rewritten_utterance": "Is a tram fast?",
                "automatic_rewritten_utterance": "Is it fast?",
                "manual_canonical_result_id": "CAR_2",
            },
        ],
    }
]
CAST_2021 = [
    {
        "number": 106,
        "turn": [
            {
                "number": 1,
                "raw_utterance": "What is a tram?",
                "passage": "A tram runs on rails.",
                "manual_rewritten_utterance": "What is a tram?",
                "canonical_result_id": "MARCO_D1",
                "passage_id": 7,
            },
            {
                "number": 2,
                "raw_utterance": "Is it fast?",
                "passage": "Up to 70 km/h.",
                "manual_rewritten_utterance": "Is a tram fast?",
                "canonical_result_id": "KILT_2",
                "passage_id": 0,
            },
        ],
    }
]


def asked(number: str, parent: str, text: str) -> dict[str, str]:
    return {"number": number, "parent": parent, "participant": "User", "utterance": text}


def answered(number: str, parent: str, text: str) -> dict[str, Any]:
    return {"number": number, "parent": parent, "participant": "System", "response": text, "provenance": ["MARCO_1-1"]}


CAST_2022_TREE = [
    {
        "number": 132,
        "title": "Trams",
        "turn": [
            {"number": "1-1", "participant": "User", "utterance": "What is a tram?"},
            answered("1-2", "1-1", "It runs on rails."),
            asked("1-3", "1-2", "Is it fast?"),
            answered("1-4", "1-3", "Up to 70 km/h."),
            asked("2-1", "1-2", "Who drives it?"),
        ],
    }
]
SHARED_TURN = {
    "number": "1-1",
    "utterance": "What is a tram?",
    "manual_rewritten_utterance": "What is a tram?",
    "response": "It runs on rails.",
    "provenance": ["MARCO_1-1"],
}
CAST_2022_FLAT = [
    {
        "number": 132,
        "turn": [
            SHARED_TURN | {"utterance_type": "Question"},
            {"number": "1-3", "utterance": "Is it fast?", "manual_rewritten_utterance": "Is a tram fast?"},
        ],
        "title": "Trams",
    },
    {
        "number": 132,
        "turn": [
            SHARED_TURN,
            {"number": "2-1", "utterance": "Who drives it?", "manual_rewritten_utterance": "Who drives a tram?"},
        ],
        "title": "Trams",
    },
]
IKAT_2023 = [
    {
        "number": "9-1",
        "title": "Commuting",
        "ptkb": {"1": "I live in Ulm.", "2": "I have no car."},
        "turns": [
            {
                "turn_id": 1,
                "utterance": "How do I get to work?",
                "resolved_utterance": "How do I get to work in Ulm without a car?",
                "response": "By tram.",
                "ptkb_provenance": [1, 2],
                "response_provenance": ["clueweb22-en0000-00-00001:1"],
            },
            {
                "turn_id": 2,
                "utterance": "How often?",
                "resolved_utterance": "How often do trams run in Ulm?",
                "response": "Every ten minutes.",
                "ptkb_provenance": [1],
                "response_provenance": [],
            },
        ],
    }
]
IKAT_2024 = [{**IKAT_2023[0], "number": 0}]
IKAT_2025 = [
    {
        "number": "1-1",
        "title": "Commuting",
        "ptkb": ["I live in Ulm.", "I have no car."],
        "responses": [
            {
                "turn_id": 1,
                "user_utterance": "How do I get to work?",
                "resolved_utterance": "How do I get to work in Ulm?",
                "response": "By tram.",
                "relevant_ptkbs": ["I live in Ulm."],
                "citations": ["clueweb22-en0000-00-00001:1"],
            },
            {"turn_id": 2, "user_utterance": "How often?", "resolved_utterance": "How often do trams run in Ulm?"},
        ],
    }
]
FIRE_2010 = """<?xml version="1.0" encoding="UTF-8"?>
<topics>
<top lang="en">
<num>76</num>
<title>Clashes between trams and buses</title>
<desc>Find reports of collisions.</desc>
<narr>Relevant documents name a place.</narr>
</top>
<top lang="bn">
<num>77</num>
<title>ট্রাম ধর্মঘট</title>
<desc>ধর্মঘট</desc>
<narr>কলকাতা</narr>
</top>
</topics>
"""
FIRE_2023 = """<topics>
<topic number="FIRE-1"><title>Tram strikes</title><desc>Strikes of drivers.</desc><narr>Name a city.</narr>
<language>hi</language><keyword>tram</keyword><keyword>strike</keyword></topic>
</topics>
"""
NTCIR_4 = """<TOPIC><NUM>001</NUM><SLANG>JA</SLANG><TLANG>EN</TLANG><TITLE>Tram strikes</TITLE><DESC>Find them.</DESC>
<NARR><BACK>Drivers went on strike.</BACK><REL>Reports of strikes.</REL></NARR><CONC>tram, strike</CONC></TOPIC>
<TOPIC><NUM>002</NUM><SLANG>JA</SLANG><TLANG>EN</TLANG><TITLE>路面電車</TITLE><DESC>東京。</DESC></TOPIC>
"""
NTCIR_WWW_3 = """<?xml version="1.0" encoding="UTF-8"?>
<queries>
<query><qid>0101</qid><content>tram strike</content><description>You look for news.</description></query>
<query><qid>0102</qid><content>路面電車</content><description>東京の電車。</description></query>
</queries>"""
NTCIR_INTENT = """<topics><topic id="0001" lang="zh"><query>电车</query>
<subtopic id="1" poss="0.6"><description>history</description><example>电车 历史</example></subtopic>
<subtopic id="2" poss="0.4"><description>tickets</description></subtopic></topic></topics>"""
WEB_2009 = """<webtrack2009>
<topic number="1" type="faceted"><query>tram museum</query><description>Find museums of trams.</description>
<subtopic number="1" type="inf">When is it open?</subtopic><subtopic number="2" type="nav">Find its page.</subtopic>
</topic></webtrack2009>
"""
TOUCHE_2020 = """<topics><topic><number>1</number><title>Should trams be free?</title>
<description>A city considers it.</description><narrative>Highly relevant arguments name costs.</narrative>
<stance>PRO</stance><date>2020-05-01</date></topic></topics>"""
TOUCHE_2022 = """<topics><topic><number>1</number><title>Tram or bus?</title><objects>tram, bus</objects>
<description>Compare them.</description><narrative>Relevant documents compare.</narrative></topic></topics>"""

FILES: dict[str, tuple[Any, list[Topic]]] = {
    "CAsT 2019": (
        CAST_2019,
        [
            Topic("31_1", "What is a tram?", "About trams.", fields={"conversation title": "trams"}),
            Topic(
                "31_2",
                "Is it fast?",
                "About trams.",
                fields={"conversation title": "trams", "history": [user("What is a tram?")]},
            ),
        ],
    ),
    "CAsT 2020": (
        CAST_2020,
        [
            Topic(
                "81_1",
                "What is a tram?",
                fields={"raw_utterance": "What is a tram?", "automatic_rewritten_utterance": "What is a tram?"},
            ),
            Topic(
                "81_2",
                "Is a tram fast?",
                fields={
                    "raw_utterance": "Is it fast?",
                    "automatic_rewritten_utterance": "Is it fast?",
                    "history": [user("What is a tram?")],
                },
            ),
        ],
    ),
    "CAsT 2021": (
        CAST_2021,
        [
            Topic(
                "106_1",
                "What is a tram?",
                fields={"raw_utterance": "What is a tram?", "passage": "A tram runs on rails."},
            ),
            Topic(
                "106_2",
                "Is a tram fast?",
                fields={
                    "raw_utterance": "Is it fast?",
                    "passage": "Up to 70 km/h.",
                    "history": [user("What is a tram?"), system("A tram runs on rails.")],
                },
            ),
        ],
    ),
    "CAsT 2022, tree": (
        CAST_2022_TREE,
        [
            Topic("132_1-1", "What is a tram?", fields={"conversation title": "Trams"}),
            Topic(
                "132_1-3",
                "Is it fast?",
                fields={
                    "conversation title": "Trams",
                    "history": [user("What is a tram?"), system("It runs on rails.")],
                },
            ),
            Topic(
                "132_2-1",
                "Who drives it?",
                fields={
                    "conversation title": "Trams",
                    "history": [user("What is a tram?"), system("It runs on rails.")],
                },
            ),
        ],
    ),
    "CAsT 2022, paths": (
        CAST_2022_FLAT,
        [
            Topic(
                "132_1-1",
                "What is a tram?",
                fields={
                    "conversation title": "Trams",
                    "utterance": "What is a tram?",
                    "response": "It runs on rails.",
                    "utterance_type": "Question",
                },
            ),
            *(
                Topic(
                    query_id,
                    title,
                    fields={
                        "conversation title": "Trams",
                        "utterance": utterance,
                        "history": [user("What is a tram?"), system("It runs on rails.")],
                    },
                )
                for query_id, title, utterance in (
                    ("132_1-3", "Is a tram fast?", "Is it fast?"),
                    ("132_2-1", "Who drives a tram?", "Who drives it?"),
                )
            ),
        ],
    ),
    **{
        f"iKAT {year}": (
            content,
            [
                Topic(
                    f"{number}_1",
                    "How do I get to work in Ulm without a car?",
                    fields={
                        "conversation title": "Commuting",
                        "ptkb": {"1": "I live in Ulm.", "2": "I have no car."},
                        "utterance": "How do I get to work?",
                        "response": "By tram.",
                        "ptkb_provenance": [1, 2],
                    },
                ),
                Topic(
                    f"{number}_2",
                    "How often do trams run in Ulm?",
                    fields={
                        "conversation title": "Commuting",
                        "ptkb": {"1": "I live in Ulm.", "2": "I have no car."},
                        "utterance": "How often?",
                        "response": "Every ten minutes.",
                        "ptkb_provenance": [1],
                        "history": [user("How do I get to work?"), system("By tram.")],
                    },
                ),
            ],
        )
        for year, number, content in ((2023, "9-1", IKAT_2023), (2024, "0", IKAT_2024))
    },
    "iKAT 2025": (
        IKAT_2025,
        [
            Topic(
                "1-1_1",
                "How do I get to work in Ulm?",
                fields={
                    "conversation title": "Commuting",
                    "ptkb": ["I live in Ulm.", "I have no car."],
                    "user_utterance": "How do I get to work?",
                    "response": "By tram.",
                    "relevant_ptkbs": ["I live in Ulm."],
                },
            ),
            Topic(
                "1-1_2",
                "How often do trams run in Ulm?",
                fields={
                    "conversation title": "Commuting",
                    "ptkb": ["I live in Ulm.", "I have no car."],
                    "user_utterance": "How often?",
                    "history": [user("How do I get to work?"), system("By tram.")],
                },
            ),
        ],
    ),
    "FIRE 2010": (
        FIRE_2010,
        [
            Topic(
                "76",
                "Clashes between trams and buses",
                "Find reports of collisions.",
                "Relevant documents name a place.",
                {"lang": "en"},
            ),
            Topic("77", "ট্রাম ধর্মঘট", "ধর্মঘট", "কলকাতা", {"lang": "bn"}),
        ],
    ),
    "FIRE 2023": (
        FIRE_2023,
        [
            Topic(
                "FIRE-1",
                "Tram strikes",
                "Strikes of drivers.",
                "Name a city.",
                {"language": "hi", "keyword": ["tram", "strike"]},
            )
        ],
    ),
    "NTCIR-4": (
        NTCIR_4,
        [
            Topic(
                "001",
                "Tram strikes",
                "Find them.",
                "back: Drivers went on strike.\nrel: Reports of strikes.",
                {"slang": "JA", "tlang": "EN", "conc": "tram, strike"},
            ),
            Topic("002", "路面電車", "東京。", fields={"slang": "JA", "tlang": "EN"}),
        ],
    ),
    "NTCIR WWW-3": (
        NTCIR_WWW_3,
        [Topic("0101", "tram strike", "You look for news."), Topic("0102", "路面電車", "東京の電車。")],
    ),
    "NTCIR INTENT": (
        NTCIR_INTENT,
        [
            Topic(
                "0001",
                "电车",
                fields={
                    "lang": "zh",
                    "subtopics": [
                        {"id": "1", "poss": "0.6", "description": "history", "example": "电车 历史"},
                        {"id": "2", "poss": "0.4", "description": "tickets"},
                    ],
                },
            )
        ],
    ),
    "Web 2009": (
        WEB_2009,
        [
            Topic(
                "1",
                "tram museum",
                "Find museums of trams.",
                fields={
                    "type": "faceted",
                    "subtopics": [
                        {"number": "1", "type": "inf", "text": "When is it open?"},
                        {"number": "2", "type": "nav", "text": "Find its page."},
                    ],
                },
            )
        ],
    ),
    "Touché 2020": (
        TOUCHE_2020,
        [
            Topic(
                "1",
                "Should trams be free?",
                "A city considers it.",
                "Highly relevant arguments name costs.",
                {"stance": "PRO", "date": "2020-05-01"},
            )
        ],
    ),
    "Touché 2022": (
        TOUCHE_2022,
        [Topic("1", "Tram or bus?", "Compare them.", "Relevant documents compare.", {"objects": "tram, bus"})],
    ),
}
"""Track -> a file of its form, and its topics."""


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return path


@pytest.mark.filterwarnings("ignore::collection.core.errors.FormatWarning")
def read(path: Path) -> list[Topic]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(to_topics(formats.read_topics(path)))


@pytest.mark.parametrize("track", FILES)
def test_files_of_tracks_are_read_and_written_back(tmp_path: Path, track: str) -> None:
    content, wanted = FILES[track]
    found = read(write(tmp_path / "topics.txt", content))
    assert found == wanted
    formats.write_topics(to_frame(found), tmp_path / "back.jsonl")
    assert read(tmp_path / "back.jsonl") == wanted


MUTATIONS = cases(40, 2000)


@pytest.mark.parametrize("track", FILES)
def test_damaged_files_of_tracks_are_read_or_refused(tmp_path: Path, track: str) -> None:
    rng, path = random.Random(track), tmp_path / "topics.txt"
    data = write(path, FILES[track][0]).read_bytes()
    pieces = [
        b"<",
        b">",
        b"</",
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"null",
        b"1e999",
        b"\\ud800",
        b"&#0;",
        b"\0",
    ]
    outcomes: list[str] = []
    for number in range(MUTATIONS):
        damaged = data
        for _ in range(rng.randint(1, 4)):
            at, end = sorted(rng.randrange(len(damaged) + 1) for _ in range(2))
            piece = rng.choice([*pieces, damaged[at:end], b""])
            damaged = damaged[:at] + piece + damaged[rng.choice([at, at + 1, min(end, at + 40)]) :]
        path.write_bytes(damaged)
        try:
            topics = read(path)
        except FormatError as error:
            outcomes.append(str(error))
            continue
        outcomes.append("")
        formats.write_topics(to_frame(topics), tmp_path / "back.jsonl")
        assert read(tmp_path / "back.jsonl") == topics, f"mutation {number}"
    assert "" in outcomes, "no mutation could be read"
    assert all(not said or (said.startswith(str(path)) and "\n" not in said) for said in outcomes)


TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
NAMES = TEXTS.filter(
    lambda name: (
        name.lower() not in formats.topics._ANSWERS and name not in ("query_id", "title", "description", "narrative")
    )  # type: ignore[attr-defined]
)
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.dictionaries(
    NAMES | st.sampled_from(["history", "turns", "text", "id", "metadata", "topics", "fields"]), VALUES
)


@tries(400, deadline=None)
@given(FIELDS, TEXTS)
def test_all_fields_survive_a_campaign_and_its_export(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any], title: str
) -> None:
    path = tmp_path_factory.mktemp("fields", numbered=True) / "topics.jsonl"
    topic = Topic("q1", title, fields=fields)
    formats.write_topics(to_frame([topic]), path)
    (found,) = read(path)
    assert found == topic
    assert list(found.fields) == list(fields), "their order"
    context = read_context(fields)
    assert topic_text(topic).startswith(title)
    assert all(turn.text for turn in context.turns)
    assert all(isinstance(text, str) and text for text in context.others.values())


def test_a_campaign_keeps_fields_and_recognises_unchanged_topics(tmp_path: Path) -> None:
    path = write(tmp_path / "topics.xml", WEB_2009)
    with Campaign.create(tmp_path / "campaign") as campaign:
        for counts in ("1 new", "0 new, 1 unchanged"):
            assert counts in campaign.imports.import_files(topics=path).done[0]
        assert campaign.store.corpus.topic_records() == FILES["Web 2009"][1]
        write(path, WEB_2009.replace("faceted", "ambiguous"))
        with pytest.raises(ConflictError, match="with another text; use --replace"):
            campaign.imports.import_files(topics=path)
        campaign.imports.import_files(topics=path, replace=True)
        assert campaign.store.corpus.topic_records(["1"])[0].fields["type"] == "ambiguous"


FORMER = {
    "Web 2009": ["type: faceted\nsubtopic 1 (inf): When is it open?\nsubtopic 2 (nav): Find its page."],
    "Touché 2020": ["Highly relevant arguments name costs.\nstance: PRO\ndate: 2020-05-01"],
    "CAsT 2021": [
        "raw_utterance: What is a tram?\npassage: A tram runs on rails.\ncanonical_result_id: MARCO_D1\npassage_id: 7",
        "raw_utterance: Is it fast?\npassage: Up to 70 km/h.\ncanonical_result_id: KILT_2\npassage_id: 0\n"
        "history:\nWhat is a tram?\nA tram runs on rails.",
    ],
    "iKAT 2023": [
        "conversation title: Commuting\nptkb:\n1: I live in Ulm.\n2: I have no car.\nutterance: How do I get to work?\n"
        "response: By tram.\nptkb_provenance:\n1\n2\nresponse_provenance: clueweb22-en0000-00-00001:1",
        "conversation title: Commuting\nptkb:\n1: I live in Ulm.\n2: I have no car.\nutterance: How often?\n"
        "response: Every ten minutes.\nptkb_provenance: 1\n"
        "history:\nHow do I get to work in Ulm without a car?\nBy tram.",
    ],
}
"""Track -> the narratives of its topics in version 0.1.0, which appended other fields."""


@pytest.mark.parametrize("track", FORMER)
def test_topics_of_campaigns_of_before_are_unchanged(tmp_path: Path, track: str) -> None:
    content, topics = FILES[track]
    path = write(tmp_path / "topics.txt", content)
    former = [Topic(*topic[:3], narrative) for topic, narrative in zip(topics, FORMER[track], strict=True)]
    with Campaign.create(tmp_path / "campaign") as campaign:
        with campaign.transaction():
            campaign.store.corpus.add_topics(former)
        assert f"{len(topics)} unchanged" in campaign.imports.import_files(topics=path).done[0]
        assert campaign.store.corpus.topic_records() == former
        assert f"{len(topics)} changed" in campaign.imports.import_files(topics=path, replace=True).done[0]
        assert campaign.store.corpus.topic_records() == topics
        changed = [topic._replace(fields={**topic.fields, "stance": "CON"}) for topic in topics]
    with Campaign.create(tmp_path / "other") as campaign, campaign.transaction():
        campaign.store.corpus.add_topics(former)
        with pytest.raises(ConflictError):
            campaign.store.corpus.add_topics(changed)


def test_turns_and_other_fields_are_told_apart() -> None:
    turns = (Turn("user", "What is a tram?"), Turn("system", "It runs on rails."))
    for name, history in (
        ("history", [user("What is a tram?"), system("It runs on rails.")]),
        ("messages", [{"role": "user", "content": "What is a tram?"}, {"role": "system", "content": turns[1].text}]),
        ("turns", [{"utterance": "What is a tram?", "response": "It runs on rails.", "turn_id": 1}]),
        ("dialogue", [["What is a tram?", "It runs on rails."]]),
    ):
        assert read_context({name: history, "stance": "pro"}) == (turns, {"stance": "pro"}), name
    assert read_context({"history": ["a", " "]}) == ((Turn("", "a"),), {})
    for history in ("a text", 7, [1], [["a", "b", "c"]], [{"text": 7}], {"a": "b"}):
        assert read_context({"history": history}).turns == ()
        assert list(read_context({"history": history}).others) == ["history"]
    for more in ({"mood": "cross"}, {"question": "other words"}, {"response": "b", "passage": "c"}, {"role": "expert"}):
        context = read_context({"history": [{**user("a"), **more}]})
        assert context.turns[0] == Turn("user", "a")
        assert all(value in context.others["history"] for value in more.values())


def test_models_read_what_they_read_before() -> None:
    topic = Topic(
        "1", "trams", "Trams.", "Any.", {"history": [user("Lift?"), system("No.")], "stance": "pro", "to": ["a"]}
    )
    assert topic_text(topic) == "trams Trams. Any.\nhistory:\nLift?\nNo.\nstance: pro\nto: a"
    assert full_narrative("", topic.fields, with_speakers=True).startswith("history:\nuser: Lift?\nsystem: No.\n")
    assert topic_text(Topic("1", "trams", "trams", "")) == "trams"


def test_a_topic_with_the_turns_before_its_question(tmp_path: Path) -> None:
    record = {"id": "7", "query": "Is it fast?", "turns": [user("What is a tram?"), system("It runs on rails.")]}
    assert read(write(tmp_path / "a.jsonl", json.dumps(record))) == [
        Topic("7", "Is it fast?", fields={"turns": record["turns"]})
    ]
    pretty = {"number": 1, "turn": [{"number": "1-1", "utterance": "What is a tram?"}]}
    assert [topic.query_id for topic in read(write(tmp_path / "b.json", pretty))] == ["1_1-1"]


def test_documents_are_left_out_wherever_they_are_named(tmp_path: Path) -> None:
    record = {"id": "7", "title": "trams", "aspects": [{"name": "speed", "rel_docs": ["d1"], "qrels": {"d1": 1}}]}
    with pytest.warns(match="left out 2 fields that name documents or grades.*: rel_docs and qrels"):
        found = formats.read_topics(write(tmp_path / "a.jsonl", json.dumps(record)))
    assert found["fields"][0] == {"aspects": [{"name": "speed"}]}


def test_bottomless_fields_and_endless_conversations_are_refused(tmp_path: Path) -> None:
    deep = "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)
    with pytest.raises(FormatError, match="line 1: expected fields with a depth of at most 50"):
        read(write(tmp_path / "a.jsonl", f'{{"id": "1", "title": "x", "deep": {deep}}}\n'))
    with pytest.raises(FormatError, match="depth of at most 50"):
        read(write(tmp_path / "a.xml", "<topics><topic><num>1</num>" + "<a>" * 60 + "</a>" * 60 + "</topic></topics>"))
    turns = [{"turn_id": n, "utterance": "x"} for n in range(LONGEST_CONVERSATION + 1)]
    with pytest.raises(FormatError, match="at most 1,000 turns in a conversation"):
        read(write(tmp_path / "b.jsonl", json.dumps({"number": 1, "turns": turns})))
    two = [{"number": 1, "turns": [{"turn_id": 1, "utterance": text}]} for text in "ab"]
    with pytest.raises(FormatError, match="topic '1_1' again"):
        read(write(tmp_path / "c.json", two))


def test_queries_have_other_fields_as_metadata(tmp_path: Path) -> None:
    formats.write_queries(to_frame([Topic("1", "trams", fields={"stance": "pro"})]), tmp_path / "queries.jsonl")
    assert json.loads((tmp_path / "queries.jsonl").read_text()) == {
        "_id": "1",
        "text": "trams",
        "metadata": {"stance": "pro"},
    }
    formats.write_queries(to_frame([Topic("1", "trams")]), tmp_path / "queries.jsonl")
    assert (tmp_path / "queries.jsonl").read_text() == '{"_id": "1", "text": "trams"}\n'
    fields = {
        "topic_title": "Transport",
        "qid": "Q-77",
        "question": "Why?",
        "topics": [{"title": "x"}],
        "stance": "pro",
    }
    formats.write_queries(to_frame([Topic("1", "trams", fields=fields)]), tmp_path / "queries.jsonl")
    (found,) = read(tmp_path / "queries.jsonl")
    assert found[:4] == ("1", "trams", "", "")
    assert [*found.fields.values()] == [*fields.values()]
    assert "other_qid" in found.fields


def test_the_id_of_a_query_is_not_that_of_its_metadata(tmp_path: Path) -> None:
    query = {"_id": "1", "text": "trams", "metadata": {"query_id": "Q-77", "number": 3}}
    (found,) = read(write(tmp_path / "queries.jsonl", json.dumps(query)))
    assert found == Topic("1", "trams", fields={"number": 3, "other_query_id": "Q-77"})
    formats.write_topics(to_frame([found]), tmp_path / "topics.jsonl")
    assert read(tmp_path / "topics.jsonl") == [found]


@pytest.mark.parametrize(
    "record",
    [
        {"query_id": "1", "title": " ", "query": "trams"},
        {"query_id": "1", "title": "trams", "narrative": " ", "narr": "All."},
        {"query_id": None, "id": "1", "title": "trams"},
        {"id": "1", "text": "trams", "title": [], "description": {}},
    ],
)
def test_blank_members_are_no_fields(tmp_path: Path, record: dict[str, object]) -> None:
    (found,) = read(write(tmp_path / "topics.jsonl", json.dumps(record)))
    assert found == Topic("1", "trams", "", "All." if "narr" in record else "")
    formats.write_topics(to_frame([found]), tmp_path / "back.jsonl")
    assert read(tmp_path / "back.jsonl") == [found]


@pytest.mark.parametrize(
    ("track", "left_out"),
    [
        ("Web 2009", []),
        ("Touché 2020", []),
        ("FIRE 2023", []),
        ("NTCIR-4", []),
        ("CAsT 2021", []),
        ("iKAT 2024", ["conversation title", "ptkb"]),
    ],
)
def test_trec_xml_has_what_it_can_hold_and_names_the_rest(tmp_path: Path, track: str, left_out: list[str]) -> None:
    topics = FILES[track][1]
    path = tmp_path / "topics.xml"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        formats.write_topic_file(to_frame(topics), path)
    kept = [{k: v for k, v in topic.fields.items() if k not in left_out} for topic in topics]
    said = [str(each.message) for each in caught]
    assert [spell_fields(topic.fields) for topic in read(path)] == list(map(spell_fields, kept)), said
    assert [topic.fields.get("subtopics") for topic in read(path)] == [each.get("subtopics") for each in kept]
    assert [topic[:3] for topic in read(path)] == [topic[:3] for topic in topics]
    assert [topic.narrative.split() for topic in read(path)] == [topic.narrative.split() for topic in topics]
    assert len(said) == bool(left_out)
    assert all(name in said[0] for name in left_out[:1])


def test_trec_sgml_has_title_description_and_narrative(tmp_path: Path) -> None:
    topic = Topic("301", "A & B", "Is <b> it?", "x\ny", {"stance": "pro", "empty": []})
    path = tmp_path / "topics.txt"
    with pytest.warns(match="left out 1 field, which only JSONL can hold: stance"):
        formats.write_topic_file(to_frame([topic, Topic("302", "Trams")]), path)
    assert path.read_text().startswith("<top>\n\n<num> Number: 301\n<title> A &amp; B\n\n<desc> Description:\n")
    assert read(path) == [Topic("301", "A & B", "Is <b> it?", "x y"), Topic("302", "Trams")]


@tries(200, deadline=None)
@given(FIELDS, TEXTS)
@example({"aA": False}, "")
def test_trec_xml_of_any_fields_is_read(tmp_path_factory: pytest.TempPathFactory, fields: Any, title: str) -> None:
    """What is written as an element is read as the same text; other fields are left out."""
    path = tmp_path_factory.mktemp("fields", numbered=True) / "topics.xml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        formats.write_topic_file(to_frame([Topic("q1", f"t {title}", fields=fields)]), path)
    (found,) = read(path)
    assert found.query_id == "q1"
    assert found.fields.keys() <= fields.keys()


def test_a_command_writes_topics(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "campaign") as campaign, campaign.transaction():
        campaign.store.corpus.add_topics(FILES["iKAT 2023"][1])
    out = tmp_path / "topics.jsonl"
    assert "topics.jsonl: 2 lines" in ok("export", tmp_path / "campaign", "--topic-file", out)
    assert read(out) == FILES["iKAT 2023"][1]
    done = run("export", tmp_path / "campaign", "--topic-file", tmp_path / "topics.xml")
    assert "left out" in done.stderr
    assert "which only JSONL can hold" in done.stderr
