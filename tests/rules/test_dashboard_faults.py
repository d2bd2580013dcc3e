"""Why a conversion failed stands in the labels of the page, in each language."""

import pytest

from shared.conversions.rules import MESSAGES, Fault
from shared.words.compiler.labels import WORDS
from shared.words.compiler.parse import parse

GROUP = "conversionWords-fault-"
WITH_FIGURE = {"conversionWords-tookTooLong": Fault.TOOK_TOO_LONG}


def faults(language: str) -> dict[str, str]:
    """The words for each code."""
    messages = parse(WORDS / language / "page" / "conversions.ftl")
    return {
        WITH_FIGURE.get(name, name.removeprefix(GROUP)): "".join(
            part if isinstance(part, str) else "{seconds}" for part in message.pattern
        )
        for name, message in messages.items()
        if name.startswith(GROUP) or name in WITH_FIGURE
    }


def test_the_english_words_are_those_of_the_service() -> None:
    assert faults("en") == MESSAGES


@pytest.mark.parametrize("language", ["de", "ja"])
def test_every_fault_has_words_with_its_figure(language: str) -> None:
    words = faults(language)

    assert words.keys() == MESSAGES.keys()
    assert [code for code, text in words.items() if text.count("{") != MESSAGES[Fault(code)].count("{")] == []
