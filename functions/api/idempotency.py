"""The header Idempotency-Key: a request that comes again has one effect, and is answered by what the first one made."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, Protocol, TypeVar

import msgspec
from sqlalchemy import Connection

from functions.api.fields import field_text
from functions.api.routing import Call, Header
from functions.problems import InvalidField
from shared.access import idempotency_store as store
from shared.errors import IdempotencyKeyReused, SiteNotAllowed
from shared.postgres.door import scrub

NAME: Final = "Idempotency-Key"
LONGEST: Final = 200
HEADER: Final = {
    NAME: Header(
        f"1 to {LONGEST} characters: a request with the same key gets the result of the first one",
        {"type": "string", "minLength": 1, "maxLength": LONGEST},
    )
}


class Row(Protocol):
    """A row of one of the tables of `idempotency_store.CALLER`."""

    @property
    def id(self) -> Any: ...


R = TypeVar("R", bound=Row)


class Keyed(msgspec.Struct, frozen=True):
    """The idempotency key of a request, and the hash (SHA-256) of its path and body."""

    caller: str
    key: str
    hash: str


def keyed(call: Call) -> Keyed | None:
    """The key of this request with a JSON body; None without one. Raises InvalidField."""
    key = call.request.headers.get(NAME)
    if key is None:
        return None
    if not 1 <= len(key) <= LONGEST or scrub(key) != key:
        raise InvalidField.at(NAME, field_text(least=1, most=LONGEST))
    asked = (call.request.view_args, msgspec.json.decode(call.request.get_data()))
    return Keyed(call.principal.actor, key, sha256(msgspec.json.encode(asked, order="sorted")).hexdigest())


def once(
    connection: Connection,
    request: Keyed | None,
    table: str,
    make: Callable[[], R],
    find: Callable[[Connection, Any], R | None],
) -> R:
    """What `make` makes, a row of `table`; of a request that comes again, what the first one made, as it is now.

    One that comes while the first still runs waits for its end. `find`: a row by its id, if the caller may see it.
    All of it is one transaction: a request that fails, or whose process dies, leaves its key unused.

    Raises:
        IdempotencyKeyReused: the key was used with another request.
        SiteNotAllowed: the displays of what the first request made have left the caller's sites.
    """
    if request is None:
        return make()
    first = store.first(connection, table, request.caller, request.key)
    if first is None:
        made = make()
        store.keep(connection, table, made.id, request.key, request.hash)
        return made
    if first.request_hash != request.hash:
        raise IdempotencyKeyReused
    if (row := find(connection, first.id)) is None:
        raise SiteNotAllowed
    return row
