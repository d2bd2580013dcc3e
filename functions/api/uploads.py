"""The one file of a multipart upload, as a stream: nothing of it is kept in memory or in a temporary folder.

The media volume reads it in blocks while it hashes; a body that ends early, or has no file, is refused
before anything is recorded.
"""

import io
from typing import Final

from flask import Request
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Data, Epilogue, Event, File, MultipartDecoder, NeedData

from functions.problems import BadRequest, BodyTooLarge
from shared.errors import UnsupportedMediaType
from shared.postgres.door import scrub

BLOCK_BYTES: Final = 1024 * 1024  # what the server reads ahead: smaller reads make it copy the rest each time
MAX_PARTS: Final = 16
LONGEST_FILENAME: Final = 255


class FilePart(io.RawIOBase):
    """The part named `file` of a multipart request, readable once, front to back."""

    def __init__(self, request: Request) -> None:
        """Reads up to the beginning of the file; raises BadRequest when there is none."""
        super().__init__()
        self._request = request
        self._declared = request.content_length
        self._received = 0
        # twice a block: the decoder keeps what may be the beginning of a boundary
        self._decoder = MultipartDecoder(_boundary(request), 2 * BLOCK_BYTES, max_parts=MAX_PARTS)
        self._ready = b""
        self._ended = False
        self.filename = self._find_file()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; b"" at the end of the file. Raises BadRequest for a body that was cut off."""
        if size < 0:
            raise io.UnsupportedOperation("a file part is read in blocks")
        while not self._ready and not self._ended:
            self._take(self._next())
        block, self._ready = self._ready[:size], self._ready[size:]
        return block

    def finish(self) -> None:
        """Read what follows the file, so that the request is known to be whole and to hold no second file."""
        while not isinstance(found := self._next(), Epilogue):
            if isinstance(found, File):
                raise BadRequest("One file at a time: the form has a second one; nothing was stored.")
        while block := self._request.stream.read(BLOCK_BYTES):
            self._received += len(block)
        if self._declared is not None and self._received != self._declared:
            raise _cut_off()

    def _find_file(self) -> str:
        while True:
            found = self._next()
            if isinstance(found, File):
                if found.name != "file":
                    raise BadRequest("The upload's file must be the form field named `file`.")
                return _plain(found.filename)

    def _take(self, found: Event) -> None:
        if not isinstance(found, Data):
            raise _cut_off()
        self._ready = found.data
        self._ended = not found.more_data

    def _next(self) -> Event:
        """The decoder's next event, feeding it from the body as it asks."""
        try:
            while isinstance(found := self._decoder.next_event(), NeedData):
                block = self._request.stream.read(BLOCK_BYTES)
                self._received += len(block)
                self._decoder.receive_data(block or None)
        except (ValueError, UnicodeDecodeError):
            raise _cut_off() from None
        except RequestEntityTooLarge:
            raise BodyTooLarge("The form around the file is too large.") from None
        return found


def _boundary(request: Request) -> bytes:
    boundary = request.mimetype_params.get("boundary", "")
    if request.mimetype != "multipart/form-data" or not boundary:
        raise UnsupportedMediaType("The body must be multipart/form-data with the file in the field `file`.")
    return boundary.encode("ascii", "replace")


def _plain(filename: str | None) -> str:
    """The last part of a file name, scrubbed: what a browser or a script calls the file, never a path."""
    name = scrub(filename or "").replace("\\", "/").rsplit("/", 1)[-1].strip()
    if not name:
        raise BadRequest("The upload's file has no name.")
    return name[-LONGEST_FILENAME:]


def _cut_off() -> BadRequest:
    return BadRequest("The upload ended before it was complete, or is not well-formed; nothing was stored.")
