"""The HTTP server that a broker asks: form in, `allow` or `deny` out.

It listens on loopback alone: it runs beside the broker, because passwords come without TLS. A request of the wrong form
gets an error, which a broker takes for a refusal.
"""

import asyncio
import contextlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from deploy.parts.broker_logins.cutting import CuttingOff
from deploy.parts.broker_logins.known import KnownLogins
from deploy.parts.broker_logins.questions import NoQuestion, fields_of, is_own_client_id, may_use
from deploy.parts.broker_rights import BrokerRights
from deploy.parts.layout import LOOPBACK
from shared.structured_log import event, failure

MOST_CONNECTIONS: Final = 4_096
BACKLOG: Final = 1_024
HEAD_BYTES: Final = 8_192
BODY_BYTES: Final = 16_384
REQUEST_SECONDS: Final = 10.0  # from a request's first byte to its last
IDLE_SECONDS: Final = 300.0  # longer than the 120 s for which RabbitMQ keeps an idle connection
WAIT_SECONDS: Final = 2.0  # how long a login that is not known waits for the next look at the database

Wait = Callable[[], "asyncio.Future[None]"]


class NotFromBroker(Exception):
    """The request is not one that a broker makes."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class LoginServer:
    """Answers the questions of one broker."""

    def __init__(self, known: KnownLogins, cutting: CuttingOff, next_look: Wait) -> None:
        """`next_look` gives a future that is done when a look at the database that begins from now on has ended."""
        self._known = known
        self._cutting = cutting
        self._next_look = next_look
        self._connections: dict[asyncio.StreamWriter, None] = {}  # whose last answer is the oldest comes first
        self._told: set[str] = set()

    async def serve(self, port: int) -> asyncio.Server:
        """Listen on this port of loopback. Raises OSError when it is taken."""
        return await asyncio.start_server(self._connected, LOOPBACK, port, limit=HEAD_BYTES, backlog=BACKLOG)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections[writer] = None
        if len(self._connections) > MOST_CONNECTIONS:  # any account of this machine may open them: the broker gets in
            oldest = next(iter(self._connections))
            del self._connections[oldest]
            oldest.transport.abort()
        try:
            await self._requests(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the broker left, or somebody sends nothing
        except Exception:  # noqa: BLE001 - a fault in one request must not end the others
            failure("question_failed", "a question of the broker could not be answered")
        finally:
            self._connections.pop(writer, None)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stays = True
        while stays:
            first = await asyncio.wait_for(reader.read(1), IDLE_SECONDS)
            if not first:
                return
            try:
                async with asyncio.timeout(REQUEST_SECONDS):
                    method, path, body, stays = await _request(first, reader)
                status, text = HTTPStatus.OK, await self._answer(method, path, body)
            except NotFromBroker as error:
                status, text, stays = error.status, str(error), False
                self._tell(text)
            except NoQuestion:
                status, text = HTTPStatus.BAD_REQUEST, "the body is no form"
            writer.write(_reply(status, text, stays=stays))
            await asyncio.wait_for(writer.drain(), REQUEST_SECONDS)
            if writer in self._connections:
                del self._connections[writer]
                self._connections[writer] = None

    def _tell(self, why: str) -> None:
        """Log each kind of wrong request once: a broker with a wrong setting makes no other ones."""
        if why not in self._told:
            self._told.add(why)
            event("not_answered", "a request that no broker should make", why=why)

    async def _answer(self, method: str, path: str, body: bytes) -> str:
        if (method, path) == ("GET", "/readyz"):
            if not self._known.is_read:
                raise NotFromBroker(HTTPStatus.SERVICE_UNAVAILABLE, "the logins were not read yet")
            return "ready"
        if path not in {"/user", "/vhost", "/resource", "/topic"}:
            raise NotFromBroker(HTTPStatus.NOT_FOUND, "only /user, /vhost, /resource, /topic, /readyz")
        if method != "POST":  # with GET passwords would stand in the address
            raise NotFromBroker(
                HTTPStatus.METHOD_NOT_ALLOWED, "only POST is answered: set auth_http.http_method = post"
            )
        asked = fields_of(body)
        user = asked.get("username", "")
        if path == "/user":
            is_allowed = await self._may_sign_in(user, asked.get("password"), asked.get("client_id"))
        else:
            rights = self._rights(user)
            is_allowed = rights is not None and may_use(path[1:], user, asked, rights)
        return "allow" if is_allowed else "deny"

    async def _may_sign_in(self, user: str, password: str | None, client_id: str | None) -> bool:
        """Whether this login is known. One that is not may be seconds old: it waits for the next look."""
        if client_id is None:  # whoever has any login could throw the bridge out
            self._tell("the broker does not say which client id a user wants, so nobody is let in")
            return False
        if not user or not password or not is_own_client_id(user, client_id):
            return False
        if self._matches(user, password):
            return True
        if self._known.is_service(user):
            return False
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._next_look(), WAIT_SECONDS)
        return self._matches(user, password)

    def _matches(self, user: str, password: str) -> bool:
        return self._known.matches(user, password) or self._cutting.is_pass(user, password)

    def _rights(self, user: str) -> BrokerRights | None:
        if self._cutting.is_busy_with(user):
            return self._known.rights(user) or BrokerRights()
        return self._known.rights(user)


async def _request(first: bytes, reader: asyncio.StreamReader) -> tuple[str, str, bytes, bool]:
    """Method, path, body, and whether the connection stays. Raises NotFromBroker, asyncio.IncompleteReadError."""
    try:
        head = first + await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise NotFromBroker(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the head is too large") from None
    line, *lines = head.decode("latin-1").split("\r\n")
    words = line.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise NotFromBroker(HTTPStatus.BAD_REQUEST, "this is no HTTP/1.1")
    headers = [(name.strip().lower(), value.strip()) for name, _, value in (one.partition(":") for one in lines if one)]
    given = dict(headers)
    sizes = [value for name, value in headers if name == "content-length"]
    if "transfer-encoding" in given or len(sizes) > 1:
        raise NotFromBroker(HTTPStatus.BAD_REQUEST, "a body needs one Content-Length")
    size = sizes[0] if sizes else "0"
    if not (size.isascii() and size.isdecimal()) or len(size) > 9 or int(size) > BODY_BYTES:
        raise NotFromBroker(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the body is too large")
    body = await reader.readexactly(int(size))
    stays = words[2] == "HTTP/1.1" and given.get("connection", "").lower() != "close"
    return words[0], words[1].partition("?")[0], body, stays


def _reply(status: HTTPStatus, text: str, *, stays: bool) -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{'' if stays else 'Connection: close' + chr(13) + chr(10)}\r\n".encode("ascii") + body
