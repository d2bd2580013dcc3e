"""Secrets, roles and limits, without a database."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.access import enrolment_rules, passwords_rules, rules
from shared.access.rules import Principal
from shared.errors import Forbidden, PasswordNotAccepted
from shared.vocabulary import PrincipalKind, Role

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WINDOW = rules.FAILURES_COUNT_FOR
HEX12 = st.text("0123456789abcdef", min_size=12, max_size=12)
HEX64 = st.text("0123456789abcdef", min_size=64, max_size=64)


def caller(role: Role) -> Principal:
    return Principal(PrincipalKind.USER, "1", "anna", role)


@given(HEX12, HEX64)
def test_a_token_is_read_back_as_it_was_made(token_id: str, secret: str) -> None:
    assert rules.parse_token(rules.compose_token(token_id, secret)) == (token_id, secret)


@given(HEX12, HEX64, st.data())
def test_one_mistyped_character_makes_it_no_token(token_id: str, secret: str, data: st.DataObject) -> None:
    token = rules.compose_token(token_id, secret)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.characters(max_codepoint=126).filter(lambda typed: typed != token[place]))

    assert rules.parse_token(token[:place] + other + token[place + 1 :]) is None


@pytest.mark.parametrize(
    "text",
    ["", "sgn", "sgn___", "sgn_0_0_0", "Bearer sgn_x", "sgn_" + "0" * 12 + "_" + "0" * 64, "\ud800", "sgn_ä_ö_ü"],
)
def test_what_was_never_a_token_is_none(text: str) -> None:
    assert rules.parse_token(text) is None


def test_a_token_with_a_line_end_behind_it_is_none() -> None:
    assert rules.parse_token(rules.compose_token("0" * 12, "0" * 64) + "\n") is None


def test_only_the_secret_itself_matches_what_is_kept_of_it() -> None:
    kept = rules.digest("a secret")

    assert "a secret" not in kept
    assert rules.matches("a secret", kept)
    assert not rules.matches("A secret", kept)
    assert not rules.matches("\ud800", kept)


@pytest.mark.parametrize("has", Role)
@pytest.mark.parametrize("needs", Role)
def test_each_role_may_what_the_ones_before_it_may(has: Role, needs: Role) -> None:
    order = [Role.VIEWER, Role.OPERATOR, Role.ADMIN]

    assert caller(has).may(needs) == (order.index(has) >= order.index(needs))


def test_who_may_not_is_told_which_role_it_takes() -> None:
    with pytest.raises(Forbidden, match="admin; yours is operator"):
        rules.check_may(caller(Role.OPERATOR), Role.ADMIN)


def test_two_tokens_of_one_name_are_two_actors() -> None:
    first = Principal(PrincipalKind.TOKEN, "aa", "ci", Role.VIEWER)
    second = Principal(PrincipalKind.TOKEN, "bb", "ci", Role.VIEWER)

    assert first.actor == "token:ci#aa"
    assert first.actor != second.actor


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "live"),
    [
        (None, None, True),
        (NOON + timedelta(seconds=1), None, True),
        (NOON, None, False),  # exactly at its end
        (None, NOON - timedelta(days=1), False),
        (NOON + timedelta(days=1), NOON, False),
    ],
)
def test_a_proof_lives_until_it_expires_or_is_revoked(
    expires_at: datetime | None, revoked_at: datetime | None, live: bool
) -> None:
    assert rules.is_live(NOON, expires_at, revoked_at) == live


def test_the_use_of_a_token_is_noted_once_a_minute() -> None:
    assert rules.is_use_worth_noting(NOON, None)
    assert not rules.is_use_worth_noting(NOON, NOON - timedelta(seconds=59))
    assert rules.is_use_worth_noting(NOON, NOON - timedelta(seconds=60))


@pytest.mark.parametrize(
    ("minutes_ago", "wait_minutes"),
    [
        ([], None),
        ([1, 2, 3, 4], None),
        ([1, 2, 3, 4, 14], 1),  # the oldest of five expires in a minute
        ([1, 2, 3, 4, 15], None),  # it has just expired
        ([1, 2, 3, 4, 5, 14], 10),  # six: at most four may remain, so the one of five minutes ago must expire too
        ([20, 30, 40, 50, 60], None),
    ],
)
def test_the_wait_after_failures_ends_when_fewer_than_five_are_left_in_the_window(
    minutes_ago: list[int], wait_minutes: int | None
) -> None:
    failures = [NOON - timedelta(minutes=minutes) for minutes in minutes_ago]

    wait = rules.wait_after_failures(failures, NOON, 5)

    assert wait == (None if wait_minutes is None else timedelta(minutes=wait_minutes))


@pytest.mark.parametrize("password", ["", "short", "elevenchars", "x" * 1025])
def test_a_password_too_short_or_endless_is_refused(password: str) -> None:
    with pytest.raises(PasswordNotAccepted, match="12 to 1,024"):
        passwords_rules.check_new(password, "something else entirely", "anna")


def test_the_present_password_is_no_new_one() -> None:
    with pytest.raises(PasswordNotAccepted, match="same"):
        passwords_rules.check_new("correct horse battery", "correct horse battery", "anna")


@given(st.binary(min_size=enrolment_rules.CODE_BYTES, max_size=enrolment_rules.CODE_BYTES))
def test_a_code_can_be_typed_in_lower_case_with_blanks_and_look_alikes(random_bytes: bytes) -> None:
    code = enrolment_rules.compose_code(random_bytes)
    typed = code.lower().replace("-", " ").replace("0", "o").replace("1", "l")

    assert enrolment_rules.normalise_code(typed) == enrolment_rules.normalise_code(code)


@given(
    st.binary(min_size=enrolment_rules.CODE_BYTES, max_size=enrolment_rules.CODE_BYTES),
    st.binary(min_size=enrolment_rules.CODE_BYTES, max_size=enrolment_rules.CODE_BYTES),
)
def test_other_bytes_make_another_code(one: bytes, other: bytes) -> None:
    same_code = enrolment_rules.normalise_code(enrolment_rules.compose_code(one)) == enrolment_rules.normalise_code(
        enrolment_rules.compose_code(other)
    )

    assert same_code == (one == other)


def test_a_display_password_is_kept_as_mosquitto_keeps_it() -> None:
    # Made by `mosquitto_passwd -b` of mosquitto 2.0.11 for the password "hello".
    kept = (
        "$7$101$BkK8wxBbzE9agbNZ$MPDWsyjFUNvRJt0eFRTVplDUvdnNtR0G+JBc"
        "HTPx18EZFBWbNeBbBqc5apBLp5TSzcrx9niwKBBnjwfUofpZ5g=="
    )

    _, _, iterations, salt, _ = kept.split("$")

    assert rules.mosquitto_hash("hello", base64.b64decode(salt), int(iterations)) == kept
    assert rules.mosquitto_hash("hellp", base64.b64decode(salt), int(iterations)) != kept
