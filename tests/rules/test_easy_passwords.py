"""Easily guessed passwords are refused; sentences and random letters are not."""

import secrets

import pytest

from shared.access import passwords_rules
from shared.errors import PasswordNotAccepted

EASY = (
    *("aaaaaaaaaaaa", "121212121212", "abcabcabcabc", "passwordpassword", "password" * 20, "ab" * 500),
    *("password1234", "Password2026!", "P@ssw0rd1234", "Passw0rd2026!", "letmein123456", "iloveyou1234"),
    *("Welcome12345!", "changeme-changeme", "admin-admin-2026", "Sommer2026!!!", "trustno1trustno1"),
    *("123456789012", "210987654321", "qwertyuiop12", "1q2w3e4r5t6y", "zaq12wsxcde3", "qazwsxedcrfv", "!@#$%^&*()_+"),
    *("abcdefghijkl", "asdfghjkl123", "qwerty123456", "drowssap1234drowssap"),
    *("Summer2026!!", "Willkommen1!", "Frankfurt2026", "raspberrypi1", "postgres1234", "harrypotter1", "gameofthrones"),
    *("112233445566", "010203040506", "qwaszxerdfcv", "1qa2ws3ed4rf5tg", "159753456852"),
    *("Signage2026!!", "SignageFleet1", "signage-display", "fleet.signage.1"),
)
SOUND = (
    *("correct horse battery", "another fine password", "a password of my own", "zürich-regen-2041-knopf"),
    *("x7Kp-93hd-Lqa2", "My shop has nine red doors", "lädeli mit velo 38", "tQ8#vL2!mZ5r"),
)


@pytest.mark.parametrize("password", EASY)
def test_what_everybody_would_try_is_refused(password: str) -> None:
    with pytest.raises(PasswordNotAccepted, match="first that somebody would try"):
        passwords_rules.check_new(password, "something else entirely", "somebody")


@pytest.mark.parametrize("password", ["margarethe42", "Miller-Margarethe-1", "margarethe.miller1", "relliMMargarethe!"])
def test_ones_own_name_and_little_more_is_refused_to_its_owner_alone(password: str) -> None:
    with pytest.raises(PasswordNotAccepted):
        passwords_rules.check_new(f"{password:1<12}", "something else entirely", "margarethe.miller@example.org")

    passwords_rules.check_new(f"{password}-velo", "something else entirely", "bert")


@pytest.mark.parametrize("password", SOUND)
def test_a_sentence_or_random_letters_are_taken(password: str) -> None:
    passwords_rules.check_new(password, "something else entirely", "anna")


def test_no_random_password_is_taken_for_an_easy_one() -> None:
    assert not [
        one for one in (secrets.token_urlsafe(10) for _ in range(200)) if passwords_rules.is_easily_guessed(one, "anna")
    ]


def test_the_words_are_what_the_rules_read() -> None:
    assert len(passwords_rules.WORDS) > 200
    assert all(word == word.casefold() and len(word) >= 2 for word in passwords_rules.WORDS)
