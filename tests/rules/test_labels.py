"""The labels of the page are compiled from what translators write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from shared.words.compiler.labels import WORDS, Module, compiled, javascript
from shared.words.compiler.parse import Message, parse
from shared.words.languages import ENGLISH, LANGUAGES

Read = Callable[[str], dict[str, Message]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def of(text: str) -> dict[str, Message]:
        path = tmp_path / "some.ftl"
        path.write_text(text, encoding="utf-8")
        return parse(path)

    return of


def test_the_modules_of_the_page_are_as_compiled() -> None:
    files = compiled()

    assert len(files) > 100
    assert [path for path, text in files.items() if path.read_text(encoding="utf-8") != text] == []


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {ENGLISH}))
def test_no_language_has_a_label_that_english_lacks(language: str) -> None:
    """The English of the meanings of settings is the server's."""
    for path in (WORDS / language / "page").glob("*.ftl"):
        labels = {name for name in parse(path) if "-" in name}
        english = parse(WORDS / "en" / "page" / path.name)
        assert path.stem == "setting_meanings" or labels <= set(english), path.name


def test_facts_have_types_and_numbers_their_plurals(read: Read) -> None:
    english = read("some-of = { $n ->\n    [0] none\n    [one] { $n } of { $who }\n   *[other] { $n }\n}\n")
    german = read("some-of = { $open ->\n    [true] { SMALL($who) } `$x`\n   *[false] { NUMBER($port) }\n}\n")
    module = Module("some", {"en": english, "de": german})

    assert "  of: (facts: { n: number; who: string; open: boolean; port: number }) => string;" in module.types()
    assert (
        '  of: ({ n, who, open, port }) => n === 0 ? "none" : n === 1 ? `${number(n)} of ${who}` : `${number(n)}`,'
        in javascript("some", "en", [module])
    )
    assert "=> open ? `${small(who)} \\`$x\\`` : `${port}`," in javascript("some", "de", [module])


def test_what_a_language_lacks_is_english_by_whole_labels(read: Read) -> None:
    english = read("piece = a piece\nsome-title = Title\nsome-more = With { piece }\n")
    module = Module("some", {"en": english, "de": read("some-more = Mit { piece }\n")})

    assert '  title: "Title",\n  more: "With a piece",\n' in javascript("some", "de", [module])
