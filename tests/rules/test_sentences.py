"""Sentences for people: code, facts and English agree, also with what the page says (`dashboard/tests`)."""

import json
from typing import Any, Final

import pytest

from deploy.parts.layout import REPOSITORY
from extensions.notifications.deliveries.rules import UNSENT
from shared.outside.couriers.words import COURIERS
from shared.sentences import Coded, Phrased, Phrases, joined, plain

NOUNS: Final = (
    COURIERS,
    UNSENT,
)
ALL: Final = Phrases(*NOUNS)
CASES: Final[list[dict[str, Any]]] = json.loads(
    (REPOSITORY / "dashboard" / "tests" / "sentences.json").read_text(encoding="utf-8")
)
"""The page's tests read the same cases."""
GREETINGS: Final = Phrases()


@GREETINGS.phrase
def greeting(*, name: str, times: int) -> str:
    return f"Hello {name}, {times} times."


@pytest.mark.parametrize("case", CASES, ids=[f"{at} {case['code']}" for at, case in enumerate(CASES)])
def test_the_cases_of_the_page_are_the_english_of_the_server(case: dict[str, Any]) -> None:
    assert ALL.english([Coded(case["code"], case["params"])]) == case["english"]


def test_there_is_a_case_for_every_code() -> None:
    assert {case["code"] for case in CASES} == set(ALL.codes)


def test_a_code_stands_for_one_sentence_in_all_nouns() -> None:
    codes = [code for phrases in NOUNS for code in phrases.makers.maps[0]]

    assert sorted(codes) == ALL.codes


def test_a_phrase_is_its_code_its_facts_and_its_english() -> None:
    said = greeting(name="Ada", times=2)

    assert said == Phrased("Hello Ada, 2 times.", (Coded("greeting", {"name": "Ada", "times": 2}),))
    assert (GREETINGS.codes, GREETINGS.params) == (["greeting"], {"greeting": ["name", "times"]})


def test_sentences_that_are_told_together_have_codes_only_if_each_has_one() -> None:
    said = greeting(name="Ada", times=2)

    assert joined([said, said]) == Phrased("Hello Ada, 2 times. Hello Ada, 2 times.", (said.coded or ()) * 2)
    assert joined([said, plain("Older code.")]) == plain("Hello Ada, 2 times. Older code.")


@pytest.mark.parametrize(
    ("coded", "note"),
    [
        (None, "older code stored the English alone"),
        ([], "a text of no sentence"),
        ([Coded("greeting", {"name": "Ada", "times": 3})], "older code changed the English alone"),
        ([Coded("greeting", {"name": "Ada"})], "a fact is missing"),
        ([Coded("greeting", {"name": "Ada", "times": 2, "tone": "warm"})], "newer code has another fact"),
        ([Coded("farewell", {})], "newer code has another code"),
    ],
)
def test_a_stored_text_has_a_code_only_while_that_makes_its_english(coded: list[Coded] | None, note: str) -> None:
    said = greeting(name="Ada", times=2)

    assert GREETINGS.stored(said.english, said.coded) == said
    assert GREETINGS.stored(said.english, coded) == plain(said.english), note
