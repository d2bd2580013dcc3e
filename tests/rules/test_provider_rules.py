"""What a try at a provider is made of, and what a person's claims give them."""

import hashlib
import re
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from shared.access import provider_operations, provider_rules
from shared.access.provider_rules import ProviderPerson, SignInTry, person_of, read_try
from shared.access.rules import MOST_SITES
from shared.errors import GroupsLeftOut, NoRoleAtProvider, NoSiteAtProvider
from shared.vocabulary import Role

NOW: Final = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
ROLES: Final = {"admins": Role.ADMIN, "operators": Role.OPERATOR, "viewers": Role.VIEWER}
WHO: Final = {"iss": "https://accounts.example", "sub": "248289761001"}


def of(claims: dict[str, Any], role_claim: str = "groups", sites_claim: str = "") -> ProviderPerson:
    return person_of({**WHO, **claims}, role_claim, ROLES, sites_claim)


# --- a try ---


def test_the_three_values_of_a_try_tell_nothing_of_each_other() -> None:
    begun = provider_operations.begin(NOW)
    values = {begun.secret, begun.state, begun.nonce, begun.verifier, begun.challenge}

    assert len(values) == 5
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", value) for value in values)
    challenge = urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest()).rstrip(b"=").decode()
    assert begun.challenge == challenge  # S256 of RFC 7636
    assert provider_operations.begin(NOW).state != begun.state


@pytest.mark.parametrize(("seconds", "is_read"), [(-61, False), (-60, True), (0, True), (600, True), (601, False)])
def test_a_try_is_read_for_ten_minutes(seconds: int, is_read: bool) -> None:
    begun = provider_operations.begin(NOW)

    found = read_try(begun.cookie, begun.state, NOW + timedelta(seconds=seconds))

    assert found == (begun if is_read else None)


def test_a_browser_cannot_make_an_old_try_young() -> None:
    old = provider_operations.begin(NOW - timedelta(hours=1))
    younger = SignInTry(old.secret, int(NOW.timestamp()))

    assert read_try(younger.cookie, old.state, NOW) is None


@pytest.mark.parametrize("cookie", ["", "1", ".", "x.y", "99999999999999." + "a" * 43, "1." + "a" * 43, "é" * 50])
def test_a_cookie_that_is_none_is_no_try(cookie: str) -> None:
    assert read_try(cookie, "any", NOW) is None
    assert read_try(cookie, SignInTry("a" * 43, 1).state, NOW) is None


@pytest.mark.parametrize("state", ["", "x", "é", "\ud800"])
def test_another_state_is_of_another_try(state: str) -> None:
    assert read_try(provider_operations.begin(NOW).cookie, state, NOW) is None


# --- rights ---

GIVEN: Final[list[tuple[dict[str, Any], str, Role]]] = [
    ({"groups": "viewers"}, "groups", Role.VIEWER),
    ({"groups": ["viewers", "staff", "admins", "operators"]}, "groups", Role.ADMIN),
    ({"groups": [1, None, {"admins": 1}, "viewers"]}, "groups", Role.VIEWER),
    ({"realm_access": {"roles": ["operators"]}}, "realm_access.roles", Role.OPERATOR),
    ({"https://example.com/roles": ["operators"]}, "https://example.com/roles", Role.OPERATOR),
    ({"groups": [" viewers\t"]}, "groups", Role.VIEWER),
    ({"Ro\u0302les": ["viewers"]}, "Rôles", Role.VIEWER),
]


@pytest.mark.parametrize(("claims", "name", "role"), GIVEN)
def test_the_highest_role_of_the_claim_counts(claims: dict[str, Any], name: str, role: Role) -> None:
    assert of(claims, name).role is role


@pytest.mark.parametrize(
    "claims",
    [
        *({}, {"groups": None}, {"groups": 3}, {"groups": {"admins": True}}, {"groups": "Admins"}, {"groups": []}),
        *({"groups": ["staff"]}, {"groups": "staff"}, {"groups": [["admins"]]}),
        *({"groups": ["ad\u200bmins"]}, {"groups": ["\u202eadmins"]}, {"groups": ["admin\u200ds"]}),
    ],
)
def test_without_a_role_there_is_nobody(claims: dict[str, Any]) -> None:
    with pytest.raises(NoRoleAtProvider):
        of(claims)


ELSEWHERE: Final = {"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://graph"}}}


@pytest.mark.parametrize("claims", [{"roles": ["admins"]}, {}])
def test_groups_that_were_too_many_to_send_are_no_missing_role(claims: dict[str, Any]) -> None:
    """As Entra ID answers above 200 groups."""
    with pytest.raises(GroupsLeftOut):
        of({**claims, **ELSEWHERE})
    with pytest.raises(GroupsLeftOut):
        of({**claims, **ELSEWHERE, "roles": "viewers"}, "roles", sites_claim="groups")


def test_groups_that_were_left_out_do_not_matter_where_roles_are_asked_for() -> None:
    assert of({**ELSEWHERE, "roles": ["admins"]}, "roles").role is Role.ADMIN
    with pytest.raises(NoRoleAtProvider):
        of({"_claim_names": "groups"})


@pytest.mark.parametrize("name", ["realm_access.roles.more", "realm_access.", ".", "realm_access.roles.0"])
def test_a_claim_that_is_not_there_gives_no_role(name: str) -> None:
    with pytest.raises(NoRoleAtProvider):
        of({"realm_access": {"roles": ["admins"]}}, name)


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_is_not_verified_gives_no_role(verified: Any) -> None:
    roles = {"ada@example.com": Role.ADMIN}
    claims = {**WHO, "email": "ada@example.com"}

    with pytest.raises(NoRoleAtProvider):
        person_of({**claims, "email_verified": verified}, "email", roles)
    assert person_of({**claims, "email_verified": True}, "email", roles).role is Role.ADMIN


def test_sites_are_those_of_the_claim_and_a_star_is_all() -> None:
    some = {"groups": "viewers", "shops": ["Rome", "Bern", "Rome", "", "x" * 101]}

    assert of(some).sites is None
    assert of(some, sites_claim="shops").sites == ["Bern", "Rome"]
    assert of({**some, "shops": ["Rome", "*"]}, sites_claim="shops").sites is None


def test_a_site_of_a_claim_is_the_site_however_the_provider_writes_it() -> None:
    claims = {"groups": "viewers", "shops": ["Ko\u0308ln ", "Köln", "Bern\u200b"]}

    assert of(claims, sites_claim="shops").sites == ["Köln"]


@pytest.mark.parametrize("shops", [None, [], "", [""], 3, [str(number) for number in range(MOST_SITES + 1)]])
def test_a_claim_of_sites_that_gives_none_does_not_give_all(shops: Any) -> None:
    with pytest.raises(NoSiteAtProvider):
        of({"groups": "admins", "shops": shops}, sites_claim="shops")


# --- names ---

NAMES: Final[list[tuple[dict[str, Any], str]]] = [
    ({"preferred_username": "cora", "email": "c@example.com"}, "cora"),
    ({"email": "c@example.com"}, "c@example.com"),
    ({}, WHO["sub"]),
    ({"preferred_username": "Zoë O'Neil <b>"}, "Zoe-O-Neil-b-"),
    ({"preferred_username": "jörg.müller@example.org"}, "joerg.mueller@example.org"),
    ({"preferred_username": "jo\u0308rg.mu\u0308ller@example.org"}, "joerg.mueller@example.org"),  # as macOS writes it
    ({"preferred_username": "François Łukasz Weiß"}, "Francois-Lukasz-Weiss"),
    ({"preferred_username": "Ægir Øst ｆｕｌｌ"}, "Aegir-Ost-full"),
    ({"preferred_username": "@@..", "email": 3}, WHO["sub"]),
    ({"preferred_username": "x" * 100}, "x" * 64),
    ({"preferred_username": "田中", "sub": "田中"}, "person"),
]


@pytest.mark.parametrize(("claims", "name"), NAMES)
def test_a_name_has_the_letters_of_user_names(claims: dict[str, Any], name: str) -> None:
    found = of({"groups": "viewers", **claims})

    assert found == ProviderPerson(WHO["iss"], claims.get("sub", WHO["sub"]), name, Role.VIEWER, None)


def test_another_name_keeps_the_mark_and_is_not_too_long() -> None:
    assert provider_rules.other_name("cora", "0a1b2c") == "cora+0a1b2c"
    assert provider_rules.other_name("x" * 64, "0a1b2c") == "x" * 57 + "+0a1b2c"
