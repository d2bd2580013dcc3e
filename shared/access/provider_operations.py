"""Use cases of sign-in at a provider: begin a try, use it up, let the person in.

Who somebody is at the provider is their issuer and subject, never a name or an e-mail address: those change hands.
"""

import secrets
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.access import provider_rules, provider_store
from shared.access.people import rules as people_rules
from shared.access.people import store as people_store
from shared.access.people.store import Person
from shared.access.provider_rules import ProviderPerson, SignInTry
from shared.access.rules import digest
from shared.errors import PersonDisabled

MARK_BYTES: Final = 6  # behind a name that is taken


class LetIn(Struct, frozen=True):
    """A person who signed in at the provider, as stored now."""

    user: Person
    is_new: bool = False
    changed: bool = False
    """Whether role or sites are other ones than before. Then the person's other sessions have ended."""


def begin(now: datetime) -> SignInTry:
    """A new try of a browser."""
    return SignInTry(secrets.token_urlsafe(provider_rules.SECRET_BYTES), int(now.timestamp()))


def use_up(connection: Connection, now: datetime, begun: SignInTry) -> bool:
    """Use this try up. False when it was used already, here or at another instance."""
    before = now - provider_rules.TRY_LASTS - 2 * provider_rules.CLOCKS_DIFFER
    return provider_store.use_try(connection, digest(begun.state), now, before)


def let_in(connection: Connection, now: datetime, person: ProviderPerson) -> LetIn:
    """The person with role and sites as the provider gives them; made at the first sign-in.

    Raises PersonDisabled, and LastAdmin when the provider takes the rights of the only person who needs no provider.
    """
    provider_store.lock_identity(connection, person.issuer, person.subject)
    user_id = provider_store.user_of(connection, person.issuer, person.subject)
    if user_id is None:
        return LetIn(_noted(connection, now, _add(connection, now, person)), is_new=True)
    changed = _renew(connection, now, user_id, person)
    return LetIn(_noted(connection, now, user_id), changed=changed)


def _add(connection: Connection, now: datetime, person: ProviderPerson) -> int:
    people_store.lock_users(connection)
    taken = people_store.is_taken(connection, person.name)
    name = provider_rules.other_name(person.name, secrets.token_hex(MARK_BYTES)) if taken else person.name
    user = people_store.insert_user(
        connection, now, name, people_store.NO_PASSWORD, person.role, False, sites=person.sites
    )
    assert user is not None  # noqa: S101 - the users are locked, and nobody has such a mark
    provider_store.insert(connection, now, person.issuer, person.subject, user.id)
    return user.id


def _renew(connection: Connection, now: datetime, user_id: int, person: ProviderPerson) -> bool:
    admins = people_store.lock_admins(connection)
    user = people_store.lock_user(connection, user_id)
    if user is None or user.disabled_at is not None:
        raise PersonDisabled
    if (user.role, user.sites) == (person.role, person.sites):
        return False
    if people_rules.takes_the_key(person.role, False, person.sites):
        people_rules.check_somebody_stays(user_id, people_store.keyholders(admins))
    people_store.change(connection, user_id, person.role, person.sites, None)
    people_store.end_sessions(connection, user_id, now)
    return True


def _noted(connection: Connection, now: datetime, user_id: int) -> Person:
    user = people_store.note_provider_sign_in(connection, now, user_id)
    if user is None:
        raise PersonDisabled
    return user
