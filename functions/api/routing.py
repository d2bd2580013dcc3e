"""How a route is declared: one function says method, path, role, shapes and problems.

The same declaration answers requests, makes the OpenAPI document and is walked by the test that tries
every route with every role. Nothing can be routed without saying who may call it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar, get_args, get_origin, get_type_hints

from flask import Blueprint, Request
from sqlalchemy import Connection

from functions.api.services import Services
from shared.access import operations as access
from shared.access.rules import Principal
from shared.errors import InvalidIdentity, ServiceError
from shared.postgres import door
from shared.vocabulary import Role

T = TypeVar("T")
JSON: Final = "application/json"
FORM: Final = "multipart/form-data"  # an upload in one request
PUBLIC: Final = None  # the role of a route that anybody may call


@dataclass
class Call:
    """One request being answered: who asks, and what is there to answer with."""

    services: Services
    request: Request
    request_id: str
    traceparent: str
    """The caller's trace, or a new one: kept with what the request asks for."""
    address: str
    """The caller's network address, as the outermost trusted proxy saw it."""
    caller: Principal | None = None
    """None only on public routes called without credentials."""
    session_cookie: str | None = None
    by_proxy: bool = False
    """The proxy in front of us says who it is; as with a cookie, the browser adds that by itself."""
    _reading: tuple[ExitStack, Connection] | None = None

    @property
    def principal(self) -> Principal:
        """The caller, who is known on every route that is not public."""
        if self.caller is None:
            raise InvalidIdentity
        return self.caller

    def begin(self) -> Connection:
        """The connection on which a read's caller is recognised and then reads: `transaction` takes it over."""
        if self._reading is None:
            stack = ExitStack()
            self._reading = stack, stack.enter_context(door.reading(self.services.engine))
        return self._reading[1]

    def end(self) -> None:
        """Give back the connection that `begin` took, also while an error is on its way."""
        if self._reading is not None:
            stack, _ = self._reading
            self._reading = None
            stack.close()

    @contextmanager
    def transaction(self) -> Iterator[tuple[Connection, datetime]]:
        """One transaction and its `now`; committed at the end, rolled back when anything is raised.

        A read goes on where its caller was recognised, and at that moment's `now`: on a connection that is for
        reads alone (`db.reading`), and is given back when the read has what it wants.
        """
        now = self.caller.recognised_at if self.caller else None
        if self._reading is None or now is None:
            with door.transaction(self.services.engine) as connection:
                yield connection, door.database_now(connection)
            return
        try:
            yield self._reading[1], now
        finally:
            self.end()

    def audit(self, connection: Connection, now: datetime, action: str, target: str, **details: Any) -> None:
        """Write the audit line of a mutation that is being done, in the mutation's own transaction."""
        actor = self.caller.actor if self.caller else "anonymous"
        access.record_audit(connection, now, actor, action, target, "done", self.request_id, details)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """An answer with a status or headers of its own; `Reply[Shape]` as annotation documents the shape."""

    value: T
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


TEXT: Final[Mapping[str, Any]] = {"type": "string"}


@dataclass(frozen=True)
class Header:
    """A request header that means something to an endpoint; `schema` is what its text must be."""

    meaning: str
    schema: Mapping[str, Any] = field(default_factory=lambda: TEXT)
    required: bool = False


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One method on one path, as declared."""

    method: str
    path: str
    role: Role | None
    """The least role that may call it; None is PUBLIC."""
    handler: Callable[..., Any]
    statuses: Mapping[int, str] = field(default_factory=lambda: {200: "OK"})
    """Status -> what it means, for the answers that are no problem."""
    raises: tuple[type[ServiceError], ...] = ()
    produces: tuple[str, ...] = (JSON,)
    """The content types of what it answers when nothing is wrong."""
    upload: str | None = None
    """The content type of a body as large as UPLOAD_LIMIT_BYTES; None for JSON or no body."""
    headers: Mapping[str, Header] = field(default_factory=dict)
    """Request headers that mean something to it, by name."""
    before_password_change: bool = False
    """Whether somebody may call it who has to choose a password first."""
    before_second_factor: bool = False
    """Whether somebody may call it who has to set up a second factor first; so they may where a password is due."""
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
        """The status of an answer that does not say another one."""
        return next(iter(self.statuses))


def _shapes(handler: Callable[..., Any]) -> dict[str, Any]:
    """What a handler's annotations say of its endpoint."""
    hints = get_type_hints(handler, include_extras=True)
    names = tuple(inspect.signature(handler).parameters)[1:]
    return {
        "body": hints.get("body"),
        "query": hints.get("query"),
        "answer": _answer(hints.get("return")),
        "path_parameters": tuple(name for name in names if name not in {"body", "query"}),
    }


def _answer(annotation: Any) -> Any:
    """The shape that a handler's annotation names: itself, or what its Reply holds."""
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

        The options are fields of Endpoint; `role` must be said. The shapes come from the function's annotations: a
        parameter named `body` or `query` is parsed into its Struct, the others are path parameters, and what it
        returns is the answer's shape.
        """

        def declare(handler: Callable[..., Any]) -> Callable[..., Any]:
            at = self.prefix + path
            self.endpoints.append(Endpoint(method=method, path=at, handler=handler, **_shapes(handler), **declared))
            return handler

        return declare

    def blueprint(self, view_of: Callable[[Endpoint], Callable[..., Any]]) -> Blueprint:
        """These routes as a new Flask blueprint, each answered by `view_of` its endpoint."""
        blueprint = Blueprint(self.name, __name__)
        for endpoint in self.endpoints:
            blueprint.add_url_rule(endpoint.path, endpoint.name, view_of(endpoint), methods=[endpoint.method])
        return blueprint
