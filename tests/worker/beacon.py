"""A listener that notes every connection: a program that connects has left the sandbox."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.serving import serving
from tests.worker import hostile_decks


class Beacon(ThreadingHTTPServer):
    """Answers every request with a picture."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _BeaconHandler)
        self.visits: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def process_request(self, request: object, client_address: object) -> None:
        """Count a connection, with any protocol."""
        self.visits.append(str(client_address))
        super().process_request(request, client_address)  # type: ignore[arg-type] # as the base class gives them


class _BeaconHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(hostile_decks.png_of(1, 1))

    do_HEAD = do_OPTIONS = do_PROPFIND = do_GET  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def beacon() -> Iterator[Beacon]:
    """A beacon that listens during the block."""
    with serving(Beacon()) as server:
        yield server
