"""Declare routes: a decorated function states its method, path, role, shapes and problems.

The same declaration serves requests, makes the OpenAPI document and drives the test of every route with every role. No
route can exist without a role, or without saying what callers of chosen sites may do.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from enum import Enum
from typing import Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints

from flask import Blueprint, Request
from msgspec import Struct, field
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from functions.api.services import Services
from functions.api.turns import Turns
from shared.access import operations as access
from shared.access import sites_store
from shared.access.rules import AuditLine, Principal
from shared.errors import InvalidIdentity, ServiceError, SiteNotAllowed
from shared.postgres import door
from shared.vocabulary import Role

T = TypeVar("T")
READS: Final = {"GET", "HEAD"}
JSON: Final = "application/json"
FORM: Final = "multipart/form-data"  # an upload in one request
PUBLIC: Final = None  # the role of a route that anybody may call


class Bound(Enum):
    """How a route is bounded for a caller whose rights are for chosen sites only."""

    CLIENTS = "the clients that it names must be at these sites; others do not exist for the caller"
    LISTS = "what it lists and counts is narrowed to these sites"
    FLEET = "it is about the whole fleet or service: the caller may not call it"
    NONE = "it is not about clients: the role alone decides"


class Call(Struct):
    """One request: its caller, and the services to answer it with."""

    services: Services
    request: Request
    request_id: str
    traceparent: str
    """The caller's trace, or a new one: stored with the command or conversion that the request makes."""
    address: str
    """The caller's network address, as the outermost trusted proxy saw it."""
    caller: Principal | None = None
    """None only on public routes called without credentials."""
    session_cookie: str | None = None
    is_narrowed: bool = False
    """Whether every transaction sees the caller's sites only."""
    by_proxy: bool = False
    """The proxy in front of us authenticated the caller. Like a cookie, the browser adds that by itself."""
    _reading: tuple[ExitStack, Connection] | None = None

    @property
    def principal(self) -> Principal:
        """The caller; always known on a route that is not public. Raises InvalidIdentity."""
        if self.caller is None:
            raise InvalidIdentity
        return self.caller

    def begin(self) -> Connection:
        """The connection that authenticates the caller of a read; `transaction` then continues on it."""
        if self._reading is None:
            stack = ExitStack()
            self._reading = stack, stack.enter_context(door.reading(self.services.engine))
        return self._reading[1]

    def end(self) -> None:
        """Return the connection that `begin` took."""
        if self._reading is not None:
            stack, _ = self._reading
            self._reading = None
            stack.close()

    @contextmanager
    def transaction(self) -> Iterator[tuple[Connection, datetime]]:
        """One transaction and its `now`; committed at the end, rolled back when an exception is raised.

        A read continues on the read-only connection (`door.reading`) that authenticated its caller, with the `now` of
        that moment. The connection is returned at the end.

        The transaction of a caller of chosen sites sees these only (`shared.access.sites_store`). Raises
        InvalidIdentity when the caller's rights have changed since they were recognised, and SiteNotAllowed for a write
        that reaches beyond the sites.
        """
        if self.is_narrowed:
            self.end()
            with door.transaction(self.services.engine) as connection, _site_errors():
                yield connection, self._narrow(connection)
            return
        now = self.caller.recognised_at if self.caller else None
        if self._reading is None or now is None:
            with door.transaction(self.services.engine) as connection:
                yield connection, self._now(connection)
            return
        try:
            yield self._reading[1], now
        finally:
            self.end()

    def _now(self, connection: Connection) -> datetime:
        """This transaction's `now`. Judges a change by the caller's present rights: its body may have taken long."""
        if self.caller is None or self.request.method in READS:
            return door.database_now(connection)
        caller = self.caller
        now = sites_store.now_of(connection, caller.kind, caller.id, caller.role, caller.sites)
        if now is None:
            raise InvalidIdentity("rights_changed")
        return now

    def _narrow(self, connection: Connection) -> datetime:
        caller = self.principal
        to_write = self.request.method not in READS
        now = sites_store.narrow(connection, caller.kind, caller.id, caller.role, to_write=to_write)
        if now is None:
            raise InvalidIdentity("rights_changed")
        return now

    @property
    def gateway_key(self) -> str:
        """The key of the gateway that handed the request on, for `sealed`; empty in the cloud, which has none."""
        return self.request.headers.get("X-Gateway-Key", "")

    def check_site(self, site: str | None) -> None:
        """Raises SiteNotAllowed unless the caller's rights are for this site; None: the whole fleet."""
        if self.is_narrowed and site not in (self.principal.sites or ()):
            raise SiteNotAllowed

    def audit(self, connection: Connection, now: datetime, action: str, target: str, **details: Any) -> None:
        """Write the audit line of a change, in the transaction of the change."""
        actor = self.caller.actor if self.caller else "anonymous"
        access.record_audit(connection, now, AuditLine(actor, action, target, "done", self.request_id, details))


@contextmanager
def _site_errors() -> Iterator[None]:
    """Turn Postgres' refusal of a write beyond the caller's sites into SiteNotAllowed."""
    try:
        yield
    except DBAPIError as error:
        if door.sqlstate(error) == sites_store.BEYOND_SITES:
            raise SiteNotAllowed from error
        raise


class Reply(Struct, Generic[T], frozen=True):
    """An answer with its own status or headers. Annotate the handler with `Reply[Shape]`, for the OpenAPI document."""

    value: T
    status: int
    headers: Mapping[str, str | list[str]] = field(default_factory=dict)


TEXT: Final[Mapping[str, Any]] = {"type": "string"}


class Header(Struct, frozen=True):
    """A request header that an endpoint reads; `schema` is the JSON schema of its text."""

    meaning: str
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXT)
    required: bool = False


class Endpoint(Struct, frozen=True, kw_only=True):
    """One method on one path, as declared."""

    method: str
    path: str
    role: Role | None
    """The lowest role that may call it; None is PUBLIC."""
    bound: Bound
    """How it is bounded for callers of chosen sites."""
    handler: Callable[..., Any]
    statuses: Mapping[int, str] = field(default_factory=lambda: {200: "OK"})
    """The successful statuses and their meanings."""
    raises: tuple[type[ServiceError], ...] = ()
    produces: tuple[str, ...] = (JSON,)
    """The content types of its successful answers."""
    upload: str | None = None
    """The content type of a body as large as UPLOAD_LIMIT_BYTES; None for JSON or no body."""
    takes: str | None = None
    """The content type of a small body that is no JSON."""
    turns: Turns | None = None
    """Each request takes one of these turns. None for a cheap request, and where the handler takes a turn."""
    headers: Mapping[str, Header] = field(default_factory=dict)
    """The request headers that it reads, by name."""
    before_password_change: bool = False
    """Whether a person who still has to change their password may call it. Implies `before_second_factor`."""
    before_second_factor: bool = False
    """Whether a person who still has to set up a second factor may call it."""
    body: type[Any] | None
    query: type[Any] | None
    answer: Any
    path_parameters: tuple[str, ...]

    @property
    def name(self) -> str:
        """Unique in the app: blueprint and function."""
        return self.handler.__name__

    @property
    def first_status(self) -> int:
        """The status of an answer that names none."""
        return next(iter(self.statuses))


def _shapes(handler: Callable[..., Any]) -> dict[str, Any]:
    """The fields of Endpoint that a handler's annotations give."""
    hints = get_type_hints(handler, include_extras=True)
    names = tuple(inspect.signature(handler).parameters)[1:]
    return {
        "body": hints.get("body"),
        "query": hints.get("query"),
        "answer": _answer(hints.get("return")),
        "path_parameters": tuple(name for name in names if name not in {"body", "query"}),
    }


def _answer(annotation: Any) -> Any:
    """The shape of the answer: the annotation itself, or the `Shape` of `Reply[Shape]`."""
    if annotation is Reply:
        return None
    return get_args(annotation)[0] if get_origin(annotation) is Reply else annotation


class Routes:
    """The routes of one blueprint, in the order of their declaration."""

    def __init__(self, name: str, prefix: str, about: str) -> None:
        """`prefix` starts every path; `about` is the blueprint's line in the OpenAPI document."""
        self.name, self.prefix, self.about = name, prefix, about
        self.endpoints: list[Endpoint] = []

    def get(self, path: str, **declared: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a read. See `_declare` for the options."""
        return self._declare("GET", path, **declared)

    def post(self, path: str, **declared: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a POST. See `_declare` for the options."""
        return self._declare("POST", path, **declared)

    def put(self, path: str, **declared: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a PUT. See `_declare` for the options."""
        return self._declare("PUT", path, **declared)

    def patch(self, path: str, **declared: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a PATCH. See `_declare` for the options."""
        return self._declare("PATCH", path, **declared)

    def delete(self, path: str, **declared: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare a DELETE. See `_declare` for the options."""
        return self._declare("DELETE", path, **declared)

    def _declare(self, method: str, path: str, **declared: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare the function below as the answer to `method` on `prefix + path`.

        The options are fields of Endpoint; `role` and `bound` are required. The shapes come from the function's
        annotations: a parameter named `body` or `query` is parsed into its Struct, the others are path parameters, and
        the return type is the answer's shape.
        """

        def declare(handler: Callable[..., Any]) -> Callable[..., Any]:
            at = self.prefix + path
            self.endpoints.append(Endpoint(method=method, path=at, handler=handler, **_shapes(handler), **declared))
            return handler

        return declare

    def blueprint(self, view_of: Callable[[Endpoint], Callable[..., Any]]) -> Blueprint:
        """A new Flask blueprint of these routes; `view_of` makes the view of each endpoint."""
        blueprint = Blueprint(self.name, __name__)
        for endpoint in self.endpoints:
            blueprint.add_url_rule(endpoint.path, endpoint.name, view_of(endpoint), methods=[endpoint.method])
        return blueprint
