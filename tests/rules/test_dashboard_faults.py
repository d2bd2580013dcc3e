"""Why a conversion failed stands in the words of the page, in each language."""

import re

import pytest

from deploy.parts.layout import REPOSITORY
from shared.conversions.rules import MESSAGES, Fault

WORDS = REPOSITORY / "dashboard" / "lib" / "words"
PLACE = "{seconds}"


def faults(path: str) -> dict[str, str]:
    """The words for each code."""
    block = (WORDS / path).read_text(encoding="utf-8").split("  fault: {")[1].split("\n  },")[0]
    return dict(re.findall(r'\n    (\w+):\s+"([^"]+)",', block))


def test_the_english_words_are_those_of_the_service() -> None:
    assert faults("conversions.js") == MESSAGES


@pytest.mark.parametrize("language", ["de", "ja"])
def test_every_fault_has_words_with_its_figure(language: str) -> None:
    words = faults(f"{language}/conversions.js")

    assert list(words) == list(MESSAGES)
    assert [code for code, text in words.items() if (PLACE in text) is not (PLACE in MESSAGES[Fault(code)])] == []
