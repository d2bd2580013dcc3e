"""How names are written: the same name in every way in which keyboards and programs write it."""

import random
import unicodedata

import pytest

from shared.names import folded, folded_each, hides, password_text

SAME: list[tuple[str, str]] = [
    ("Mitte", "Mitte"),
    ("Ko\u0308ln", "K\u00f6ln"),
    ("Köln ", "Köln"),
    ("\u00a0Köln\u2003Süd\t", "Köln Süd"),
    ("Köln  Süd", "Köln Süd"),
    ("Köln\u200b Süd", "Köln Süd"),
    ("\ufeffKöln", "Köln"),
    ("Kö\u00adln", "Köln"),
    ("\u202eneliK", "neliK"),
    ("A\u2066b\u2069", "Ab"),
    ("Ko\u200b\u0308ln", "Köln"),
    ("Lager\r\n2", "Lager 2"),
    ("Bell\x07", "Bell"),
    ("K\u200dö\u200cln", "Köln"),
    ("\u212bngström", "Ångström"),
    ("か\u3099す\u3000ショップ", "がす ショップ"),
    ("한\u3164글", "한 글"),
    ("ＣＡＦＥ", "ＣＡＦＥ"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("क्\u200dष", "क्\u200dष"),
    ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
    ("\u200d👨", "👨"),
    ("köln", "köln"),
    ("", ""),
    (" \u200b\u2800\t", ""),
]
"""A text, and the name that it means. Case counts; wide letters are other letters."""
LETTERS = [
    *map(chr, range(0x250)),
    *"\u0301\u0308\u0323\u0590\u05d0\u06cc\u0645\u0915\u093c\u094d\u1100\u1161\u11a8\u304b\u3099\u212b\u2126\u0344",
    *"\u200b\u200c\u200d\u200e\u202a\u2066\ufeff\u3000\u00a0\u2028\u3164\uffa0\u2800\ufe0f\U0001d15e\U000e0020👨👩",
]


@pytest.mark.parametrize(("typed", "name"), SAME)
def test_a_text_means_one_name(typed: str, name: str) -> None:
    assert folded(typed) == name


def test_folding_twice_and_any_form_of_the_text_give_the_same_name() -> None:
    chance = random.Random(66)
    for _ in range(10_000):
        typed = "".join(chance.choices(LETTERS, k=chance.randint(0, 8)))
        name = folded(typed)

        assert folded(name) == name, ascii(typed)
        assert {folded(unicodedata.normalize(form, typed)) for form in ("NFC", "NFD")} == {name}, ascii(typed)
        assert unicodedata.is_normalized("NFC", name)
        assert name == name.strip()
        assert "  " not in name
        assert not hides(name)


def test_a_text_that_is_too_long_for_a_name_costs_nothing() -> None:
    long = "क\u200d" * 100_000

    assert folded(long) is long


def test_names_of_a_list_stand_once_in_their_order() -> None:
    assert folded_each(["Süd", "Su\u0308d ", "\u200b", "Nord", "Süd"]) == ["Süd", "Nord"]


@pytest.mark.parametrize(
    ("text", "is_hiding"),
    [
        ("Köln ", False),
        ("Ko\u0308ln", False),
        ("Kö\u200bln", True),
        ("A\u200db", True),
        ("A\u200dक\u200dष", True),
        ("Köln\tSüd", False),
    ],
)
def test_a_text_hides_what_nobody_sees(text: str, is_hiding: bool) -> None:
    assert hides(text) is is_hiding


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gru\u0308n Haus", "grün Haus"),
        ("grün\u00a0Haus\u3000", "grün Haus "),
        (" zwei  Blanke ", " zwei  Blanke "),
        ("Kö\u200bln", "Kö\u200bln"),
        ("ＡＢＣ", "ＡＢＣ"),
    ],
)
def test_a_password_is_composed_and_nothing_of_it_is_cut(typed: str, meant: str) -> None:
    assert password_text(typed) == meant
