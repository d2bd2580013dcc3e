"""Codes of RFC 6238, and which of them are accepted."""

from datetime import UTC, datetime
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from shared.access import second_factor_rules
from shared.vocabulary import Role

RFC_SECRET = b"12345678901234567890"
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [  # RFC 6238, appendix B, SHA-1; the last six of its eight digits
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ],
)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    now = datetime.fromtimestamp(seconds, UTC)

    assert second_factor_rules.code_at(RFC_SECRET, second_factor_rules.step_at(now)) == code
    assert second_factor_rules.step_of(RFC_SECRET, code, now, None) == second_factor_rules.step_at(now)


@pytest.mark.parametrize(("steps_off", "is_taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_a_phone_may_be_half_a_minute_wrong(steps_off: int, is_taken: bool) -> None:
    code = second_factor_rules.code_at(RFC_SECRET, second_factor_rules.step_at(NOON) + steps_off)

    assert (second_factor_rules.step_of(RFC_SECRET, code, NOON, None) is not None) == is_taken


def test_a_code_is_taken_once_and_none_from_before_it_either() -> None:
    present = second_factor_rules.step_at(NOON)
    now, before = second_factor_rules.code_at(RFC_SECRET, present), second_factor_rules.code_at(RFC_SECRET, present - 1)

    assert second_factor_rules.step_of(RFC_SECRET, now, NOON, present) is None
    assert second_factor_rules.step_of(RFC_SECRET, before, NOON, present) is None
    assert second_factor_rules.step_of(RFC_SECRET, now, NOON, present - 1) == present


@pytest.mark.parametrize("typed", ["", "28708", "2870821", "28708a", "٢٨٧٠٨٢", "287082;", "28.082"])
def test_what_is_no_code_is_none(typed: str) -> None:
    assert second_factor_rules.step_of(RFC_SECRET, typed, datetime.fromtimestamp(59, UTC), None) is None


def test_a_code_may_be_typed_in_groups() -> None:
    assert second_factor_rules.step_of(RFC_SECRET, " 287 082 ", datetime.fromtimestamp(59, UTC), None) == 1


def test_apps_read_the_address_and_find_the_name_and_the_secret() -> None:
    parts = urlsplit(second_factor_rules.address_of(RFC_SECRET, "anna+x@example.org"))

    assert (parts.scheme, parts.netloc) == ("otpauth", "totp")
    assert unquote(parts.path) == "/Signage Fleet:anna+x@example.org"
    assert parse_qs(parts.query) == {"secret": ["GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"], "issuer": ["Signage Fleet"]}
    assert "+" not in parts.query


def test_the_secret_needs_the_key_and_the_row() -> None:
    secrets = {second_factor_rules.secret_of(key, nonce) for key in ("key", "other") for nonce in ("nonce", "else")}

    assert len(secrets) == 4
    assert all(len(secret) == second_factor_rules.SECRET_BYTES for secret in secrets)


@pytest.mark.parametrize(
    ("who", "roles"),
    [("nobody", set()), ("admins", {Role.ADMIN}), ("everybody", {Role.ADMIN, Role.OPERATOR, Role.VIEWER})],
)
def test_who_must_have_one(who: str, roles: set[Role]) -> None:
    assert {role for role in Role if second_factor_rules.is_required(who, role)} == roles


def test_recovery_codes_are_kept_as_hashes_and_typed_as_people_do() -> None:
    assert second_factor_rules.hash_of_recovery_code(" ABCD efgh-JKMN ") == second_factor_rules.hash_of_recovery_code(
        "abcd-efgh-jkmn"
    )
    assert "abcd" not in second_factor_rules.hash_of_recovery_code("abcd-efgh-jkmn")
