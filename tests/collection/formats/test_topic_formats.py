"""Topics in the forms in which evaluation campaigns publish them: made-up topics after the documented formats."""

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from collection.campaign import Campaign
from collection.core.errors import FormatError, FormatWarning
from collection.formats import read_topics
from tests.helpers import SHARED

TIPSTER = """<top>
<head> Tipster Topic Description
<num> Number: 051
<dom> Domain: Transport
<title> Topic: Tram strikes
<desc> Description:
Document reports a strike of tram drivers.
<smry> Summary:
Strikes of tram drivers.
<narr> Narrative:
Relevant are reports of a walkout.
<con> Concept(s):
1. tram, streetcar
<fac> Factor(s):
<nat> Nationality: Austria
</nat>
</fac>
<def> Definition(s):
</top>
"""
MICROBLOG = """<top>
<num> Number: MB7 </num>
<query> tram strike in the old town </query>
<querytime> Tue Feb 08 23:56:46 +0000 2011 </querytime>
<querytweettime> 35048150574039040 </querytweettime>
</top>
"""
BARE_WORDS = (
    "<top>\n<num> Number 7\n<title> trams\n<desc> Description\nWhere?\n<narr> Narrative\nNarrative maps count.\n</top>"
)
WEB = """<webtrack2011>
<topic number="1" type="faceted"><query>horse hooves</query><description>Find information.</description>
<subtopic number="1" type="inf">Find care.</subtopic><subtopic number="2" type="nav">Find the page.</subtopic></topic>
</webtrack2011>
"""
PRECISION_MEDICINE = """<topics task="2019 TREC Precision Medicine">
<topic number="1"><disease>melanoma</disease><gene>BRAF (E586K)</gene>
<demographic>64-year-old female</demographic></topic>
</topics>"""
CLINICAL_TRIALS_2023 = """<topics task="2023"><topic number="1" template="glaucoma">
<field name="definitive diagnosis">open angle</field><field name="visual field"/></topic></topics>"""
DECISION_SUPPORT = """<topics><topic number="1" type="diagnosis"><note>78 M w/ pmh of CABG</note>
<description>78 year old male presents.</description><summary>A 78 year old male.</summary></topic></topics>"""
MISINFORMATION = """<topics><topic><number>101</number><query>ankle brace achilles tendonitis</query>
<description>Will a brace help?</description><narrative>Useful ones explain.</narrative>
<disclaimer>No advice.</disclaimer><stance>unhelpful</stance><evidence>https://example.org/a</evidence></topic></topics>"""
NTCIR_WWW = """<?xml version="1.0" encoding="UTF-8"?>
<queries><query><qid>0001</qid><content>halloween picture</content>
<description>You look for pictures.</description></query>
</queries>"""
NTCIR_CLIR = """<TOPIC><NUM>001</NUM><SLANG>CH</SLANG><TLANG>EN</TLANG><TITLE>Time Warner</TITLE><DESC>Find it.</DESC>
<NARR><BACK>They merged.</BACK><REL>Reports of the merger.</REL></NARR><CONC>merger</CONC></TOPIC>
<TOPIC><NUM>002</NUM><TITLE>Trams</TITLE></TOPIC>
"""
CLEF_2000 = (
    '<top lang="EN">\n<num> C041 </num>\n<EN-title> Pesticides </EN-title>\n<EN-desc> Find it. </EN-desc>\n</top>'
)
CLEF_TEL = """<topics><topic lang="en"><identifier>10.2452/451-AH</identifier><title>Roman Military in Britain</title>
<description>Find books.</description></topic></topics>"""
EHEALTH = """<topics><query><id>qtest1</id><discharge_summary>22821-026994.txt</discharge_summary>
<title>Hypothyreoidism</title><desc>What is it</desc>
<narr>description of the disease</narr><profile>A 43 year old man.</profile></query></topics>"""
LEGAL = """<TrecLegalProductionRequest><ProductionRequest><RequestNumber>6</RequestNumber><RequestText>All documents on
trams.</RequestText><BooleanQuery><FinalQuery>tram!</FinalQuery></BooleanQuery></ProductionRequest></TrecLegalProductionRequest>"""
GENOMICS = """<TOPICS><TOPIC><ID>1</ID><TITLE>Ferroportin-1</TITLE><NEED>Find articles.</NEED>
<CONTEXT>Iron.</CONTEXT></TOPIC></TOPICS>"""
INEX = """<inex_topic topic_id="2009001" ct_no="230"><title>Nobel prize</title>
<castitle>//article[about(., Nobel)]</castitle></inex_topic>"""
INDRI = "<parameters><query><number>7</number><text>#combine(tram strike)</text></query></parameters>"
NEWS = "<top>\n<num> Number: 321 </num>\n<docid>9171debc</docid>\n<url>https://example.org/a</url>\n</top>"
FIRE = """<top lang='en'>
<num>26</num>
<title>Singur land dispute</title>
<desc>The disputes.</desc>
<narr>Relevant.</narr>
</top>"""
CAST = [
    {
        "number": 31,
        "title": "throat cancer",
        "turn": [
            {"number": 1, "raw_utterance": "What is throat cancer?"},
            {
                "number": 2,
                "raw_utterance": "Is it treatable?",
                "manual_rewritten_utterance": "Is throat cancer treatable?",
            },
        ],
    }
]
IKAT = [
    {
        "number": "9-1",
        "title": "diet",
        "ptkb": {"1": "I'm vegetarian.", "2": "I lift weights."},
        "turns": [
            {
                "turn_id": 1,
                "utterance": "Compare diets?",
                "resolved_utterance": "Compare vegetarian diets?",
                "response": "Here.",
            },
            {"turn_id": 2, "utterance": "More?"},
        ],
    }
]
NEUCLIR = {
    "topic_id": "200",
    "topics": [
        {"lang": "eng", "topic_title": "Trams", "topic_description": "Strikes of trams.", "topic_narrative": "Any."},
        {"lang": "fas", "topic_title": "تراموا"},
    ],
}
TIP_OF_THE_TONGUE = {"id": "763", "title": "A film about trams", "text": "I saw it as a child.", "domain": "film"}

FORMS: dict[str, tuple[Any, dict[str, object]]] = {
    "Tipster": (
        TIPSTER,
        {
            "query_id": "051",
            "title": "Tram strikes",
            "description": "Document reports a strike of tram drivers.",
            "narrative": "Relevant are reports of a walkout.",
            "fields": {
                "dom": "Transport",
                "smry": "Strikes of tram drivers.",
                "con": "1. tram, streetcar",
                "nat": "Austria",
            },
        },
    ),
    "Microblog": (
        MICROBLOG,
        {
            "query_id": "MB7",
            "title": "tram strike in the old town",
            "fields": {"querytime": "Tue Feb 08 23:56:46 +0000 2011", "querytweettime": "35048150574039040"},
        },
    ),
    "words without a colon": (
        BARE_WORDS,
        {"query_id": "7", "title": "trams", "description": "Where?", "narrative": "Narrative maps count."},
    ),
    "Web": (
        WEB,
        {
            "query_id": "1",
            "title": "horse hooves",
            "narrative": "",
            "fields": {
                "type": "faceted",
                "subtopics": [
                    {"number": "1", "type": "inf", "text": "Find care."},
                    {"number": "2", "type": "nav", "text": "Find the page."},
                ],
            },
        },
    ),
    "Precision Medicine": (
        PRECISION_MEDICINE,
        {
            "title": "melanoma; BRAF (E586K); 64-year-old female",
            "fields": {"disease": "melanoma", "gene": "BRAF (E586K)", "demographic": "64-year-old female"},
        },
    ),
    "Clinical Trials 2023": (
        CLINICAL_TRIALS_2023,
        {"title": "glaucoma; open angle", "fields": {"template": "glaucoma", "definitive diagnosis": "open angle"}},
    ),
    "Clinical Decision Support": (
        DECISION_SUPPORT,
        {
            "description": "78 year old male presents.",
            "fields": {"type": "diagnosis", "note": "78 M w/ pmh of CABG", "summary": "A 78 year old male."},
        },
    ),
    "Health Misinformation": (
        MISINFORMATION,
        {
            "query_id": "101",
            "title": "ankle brace achilles tendonitis",
            "narrative": "Useful ones explain.",
            "fields": {"disclaimer": "No advice.", "stance": "unhelpful", "evidence": "https://example.org/a"},
        },
    ),
    "NTCIR WWW": (
        NTCIR_WWW,
        {"query_id": "0001", "title": "halloween picture", "description": "You look for pictures."},
    ),
    "NTCIR CLIR": (
        NTCIR_CLIR,
        {
            "query_id": "001",
            "title": "Time Warner",
            "description": "Find it.",
            "narrative": "back: They merged.\nrel: Reports of the merger.",
            "fields": {"slang": "CH", "tlang": "EN", "conc": "merger"},
        },
    ),
    "CLEF 2000": (
        CLEF_2000,
        {"query_id": "C041", "title": "Pesticides", "description": "Find it.", "fields": {"lang": "EN"}},
    ),
    "CLEF TEL": (CLEF_TEL, {"query_id": "10.2452/451-AH", "title": "Roman Military in Britain"}),
    "CLEF eHealth": (
        EHEALTH,
        {
            "query_id": "qtest1",
            "title": "Hypothyreoidism",
            "narrative": "description of the disease",
            "fields": {"discharge_summary": "22821-026994.txt", "profile": "A 43 year old man."},
        },
    ),
    "Legal": (
        LEGAL,
        {"query_id": "6", "title": "All documents on trams.", "fields": {"booleanquery": {"finalquery": "tram!"}}},
    ),
    "Genomics": (GENOMICS, {"title": "Ferroportin-1", "fields": {"need": "Find articles.", "context": "Iron."}}),
    "INEX": (
        INEX,
        {
            "query_id": "2009001",
            "title": "Nobel prize",
            "fields": {"ct_no": "230", "castitle": "//article[about(., Nobel)]"},
        },
    ),
    "Indri": (INDRI, {"query_id": "7", "title": "#combine(tram strike)"}),
    "News": (NEWS, {"query_id": "321", "title": "9171debc; https://example.org/a"}),
    "FIRE": (FIRE, {"title": "Singur land dispute", "narrative": "Relevant.", "fields": {"lang": "en"}}),
    "CAsT": (CAST, {"query_id": "31_1", "title": "What is throat cancer?"}),
    "iKAT": (
        IKAT,
        {
            "query_id": "9-1_1",
            "title": "Compare vegetarian diets?",
            "fields": {
                "conversation title": "diet",
                "ptkb": {"1": "I'm vegetarian.", "2": "I lift weights."},
                "utterance": "Compare diets?",
                "response": "Here.",
            },
        },
    ),
    "NeuCLIR": (
        NEUCLIR,
        {
            "query_id": "200",
            "title": "Trams",
            "description": "Strikes of trams.",
            "fields": {"lang": "eng", "topics": [{"lang": "fas", "topic_title": "تراموا"}]},
        },
    ),
    "tip of the tongue": (
        TIP_OF_THE_TONGUE,
        {"title": "A film about trams", "description": "I saw it as a child.", "fields": {"domain": "film"}},
    ),
    "Touché in BEIR": (
        {"_id": "1", "text": "trams", "metadata": {"description": "Are trams good?", "narrative": "Pro or con."}},
        {"title": "trams", "description": "Are trams good?", "narrative": "Pro or con."},
    ),
    "BioASQ": (
        {"questions": [{"id": "5c", "body": "Is it?", "type": "yesno", "documents": ["http://x"], "snippets": [{}]}]},
        {"query_id": "5c", "title": "Is it?", "fields": {"type": "yesno"}},
    ),
    "FairTREC": (
        {"id": 101, "title": "Agriculture", "keywords": ["farm", "crop"], "rel_docs": [1, 2]},
        {"query_id": "101", "title": "Agriculture", "fields": {"keywords": ["farm", "crop"]}},
    ),
    "ids and texts": ({"q1": "trams", "q2": "trains"}, {"query_id": "q1", "title": "trams"}),
    "Million Query": ("20001:1:obama family tree\n20002:4:b c\n", {"query_id": "20001", "title": "obama family tree"}),
    "Web without XML": ("51:horse hooves\n52:x\n", {"query_id": "51", "title": "horse hooves"}),
    "Cranfield": (
        ".I 001\n.W\nwhat similarity laws\nmust be obeyed .\n.I 002\n.W\nx\n",
        {"query_id": "001", "title": "what similarity laws must be obeyed ."},
    ),
    "an unknown column": ("id,Suchfrage\n1,Straßenbahn\n", {"query_id": "1", "title": "Straßenbahn"}),
}


def write(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def read(path: Path) -> tuple[pd.DataFrame, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = read_topics(path)
    assert all(each.category is FormatWarning for each in caught)
    return found, [str(each.message).removeprefix(f"{path}: ") for each in caught]


@pytest.mark.parametrize("form", FORMS)
def test_published_forms(tmp_path: Path, form: str) -> None:
    content, wanted = FORMS[form]
    found = read(write(tmp_path / "topics.txt", content))[0].iloc[0].to_dict()
    assert {name: found[name] for name in wanted} == wanted


def test_the_history_of_a_conversation(tmp_path: Path) -> None:
    found, _ = read(write(tmp_path / "a.json", json.dumps(IKAT, indent=2)))
    assert found["query_id"].tolist() == ["9-1_1", "9-1_2"]
    assert found["fields"][1]["history"] == [
        {"speaker": "user", "text": "Compare diets?"},
        {"speaker": "system", "text": "Here."},
    ]
    turns = [
        {"query_id": "1_1", "title": "Is a tram fast?", "history": [], "stance": "x"},
        {"query_id": "1_2", "title": "A train?", "history": ["Is a tram fast?", "No."], "persona": "I walk"},
    ]
    found, said = read(write(tmp_path / "b.jsonl", "".join(json.dumps(turn) + "\n" for turn in turns)))
    assert found["fields"].tolist() == [
        {"history": [], "stance": "x"},
        {"history": ["Is a tram fast?", "No."], "persona": "I walk"},
    ]
    assert said == ["2 other fields are kept, and shown only on request: stance and persona"]


def test_paragraphs_in_xml_part_words(tmp_path: Path) -> None:
    topic = "<topic number='1'><title>R&amp;D</title><desc>a<br/>b <i>c</i>d<p>e</p><p>f</p></desc></topic>"
    text = f"<topics>{topic}</topics>"
    assert read(write(tmp_path / "a.xml", text))[0].values.tolist() == [["1", "R&D", "a b cd e f", ""]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<top>\n<num> Number: 401\n<title> a\n<num> Number: 402\n<title> b\n</top>\n",
         "line 1: expected one <num> in each <top>, found several: '401', '402'; a line with </top> or <top> may be"),
        ("<topics>\n<topic><number>1</number><title>cat & dog</title></topic></topics>", "line 2.*write & as &amp;"),
    ],
)  # fmt: skip
def test_refusals_of_markup_say_what_to_do(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        read(write(tmp_path / "a.xml", text))


def test_what_a_file_of_topics_has_besides_is_reported(tmp_path: Path) -> None:
    _, said = read(write(tmp_path / "a.jsonl", FORMS["FairTREC"][0]))
    assert said == [
        "1 other field is kept, and shown only on request: keywords",
        "left out 1 field that names documents or grades, which annotators must not see: rel_docs",
    ]
    lotte = {"qid": 0, "query": "how fast is a tram", "answer_pids": [7]}
    assert read(write(tmp_path / "d.jsonl", json.dumps(lotte)))[1] == [
        "left out 1 field that names documents or grades, which annotators must not see: answer_pids"
    ]
    assert read(write(tmp_path / "b.tsv", "1\ta\n2\t\n3\t \n"))[1] == [
        "2 topics have no title, description or narrative ('2' and '3')"
    ]
    assert read(write(tmp_path / "c.tsv", "1\ta\n2\tb\n"))[1] == []


def test_an_import_reports_topics_without_a_text(tmp_path: Path) -> None:
    topics = write(tmp_path / "t.csv", "id,Titel,Frage\n1,Bahn,Wo?\n2,,\n")
    with Campaign.create(tmp_path / "campaign") as campaign:
        report = campaign.imports.import_files(topics=topics)
        assert [topic.fields for topic in campaign.store.corpus.topic_records()] == [
            {"titel": "Bahn", "frage": "Wo?"},
            {},
        ]
    assert report.notices == [
        f"{topics}: 2 other fields are kept, and shown only on request: titel and frage",
        f"{topics}: 1 topic has no title, description or narrative ('2')",
    ]


def test_ids_that_would_be_comments_are_refused(tmp_path: Path) -> None:
    for name, content in (
        ("a.jsonl", '{"_id": "#heat", "text": "a"}\n'),
        ("a.txt", "<top><num>#heat<title>a</top>"),
        ("a.xml", '<topics><topic number="#heat"><title>a</title></topic></topics>'),
    ):
        with pytest.raises(FormatError, match="a topic id that does not begin with #, found '#heat'"):
            read_topics(write(tmp_path / name, content))


@pytest.mark.shared
def test_published_topics_have_texts() -> None:
    files = sorted((SHARED / "data" / "trec-topics-qrels-a").glob("topics.*"))
    assert len(files) == 5
    for path in files:
        assert read(path)[1] == []


def test_a_topic_whose_title_is_its_id_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    path.write_text("t1\tt1\n")  # T1 is the title in RIS
    assert read_topics(path)["title"].tolist() == ["t1"]


# Topics of tracks with generated answers ---------------------------------------------------------------

SUB_NARRATIVES = [{"text": "what lift is", "importance": "vital"}, {"text": "who found it", "importance": "okay"}]


@pytest.mark.filterwarnings("ignore::collection.core.errors.FormatWarning")
def test_narratives_with_sub_narratives(tmp_path: Path) -> None:
    path = tmp_path / "narratives.json"
    path.write_text(
        json.dumps([{"id": "7", "narrative": "I want to fly.", "sub_narratives": SUB_NARRATIVES}], indent=1)
    )
    [topic] = read_topics(path).to_dict("records")
    assert (topic["query_id"], topic["title"], topic["narrative"]) == ("7", "", "I want to fly.")
    assert topic["fields"] == {"sub_narratives": SUB_NARRATIVES}


def test_requests_for_reports_and_narrative_ids(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    request = {"request_id": "leaf", "title": "leaves", "problem_statement": "Why red?", "background": "For a child."}
    path.write_text(json.dumps(request) + "\n" + json.dumps({"narrative_id": 8, "narrative": "I want to fly."}) + "\n")
    assert read_topics(path).values.tolist() == [
        ["leaf", "leaves", "Why red?", "For a child."], ["8", "", "", "I want to fly."],
    ]  # fmt: skip


@pytest.mark.shared
@pytest.mark.filterwarnings("ignore::collection.core.errors.FormatWarning")
@pytest.mark.parametrize(
    ("name", "count", "column"),
    [
        ("topics/topics.rag24.test.txt", 301, "title"),
        ("topics/topics.rag24.raggy-dev.txt", 120, "title"),
        ("topics/topics.rag25.test.jsonl", 105, "title"),
        ("topics/trec_rag_2026_queries.tsv", 119, "title"),
        ("topics/trec25_narratives_sub_narratives.json.gz", 102, "narrative"),
        ("format-samples/autojudge-kiddie-topics.jsonl", 5, "description"),
    ],
)
def test_counts_of_real_topics(shared: Path, name: str, count: int, column: str) -> None:
    found = read_topics(shared / "data" / "rag" / name)
    assert len(found) == count
    assert found[column].str.strip().str.len().gt(0).all()
    assert not found[column].str.contains("\r").any()
    if "sub_narratives" in name:
        assert all(fields["sub_narratives"][0].keys() == {"text", "importance"} for fields in found["fields"])
