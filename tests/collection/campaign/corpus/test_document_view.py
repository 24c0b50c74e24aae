"""Documents as the campaign shows them: the terms that are highlighted in them."""

from collection import Campaign
from collection.core.records import Topic
from tests.helpers import put


def test_terms_of_a_conversation_are_those_that_the_user_asked(campaign: Campaign) -> None:
    turns = [
        {"speaker": "USER", "text": "What is lift?"},
        {"speaker": "SYSTEM", "text": "An upward force."},
        {"speaker": "USER", "text": "Which airfoil has most?"},
    ]
    put(campaign, topics=[Topic("9", "And its drag?", fields={"history": turns, "stance": "pro"})])
    assert campaign.corpus.view.topic_terms("9") == ["drag", "airfoil", "lift"]
