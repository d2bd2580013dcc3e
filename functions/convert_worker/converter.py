"""The HTTP client of `deploy/parts/converter`: it sends a document and receives a PDF, both as streams."""

import hashlib
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import BinaryIO

import requests

from functions.convert_worker.identity import OwnIdentity
from shared.conversions.rules import Fault, Timeouts, fault_of_answer, is_last_try
from shared.outside.media_volume import Draft

ROUTE = "/forms/libreoffice/convert"
BLOCK_BYTES = 64 * 1024
LARGEST_PDF_BYTES = 1024**3  # the converter's own limit


class ConversionFault(Exception):
    """The conversion failed; `fault` says why."""

    def __init__(self, fault: Fault, reason: str, *, is_last: bool = False) -> None:
        """`reason` goes to our log only. `is_last`: another try would end the same."""
        super().__init__(reason)
        self.fault = fault
        self.is_last = is_last


class MultipartBody:
    """A multipart form with one file, streamed, whose length is known in advance.

    requests' `files=` would hold the whole form in memory; a plain iterator would be sent chunked.
    """

    def __init__(self, source: BinaryIO, filename: str) -> None:
        """`filename` is ours: letters, digits and a dot."""
        boundary = secrets.token_hex(16)
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{filename}"\r\n'
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self.is_sent = False
        self._head = f"{head}Content-Type: application/octet-stream\r\n\r\n".encode()
        self._tail = f"\r\n--{boundary}--\r\n".encode()
        self._source = source
        self._length = len(self._head) + source.seek(0, 2) + len(self._tail)
        self._digest = hashlib.sha256()

    def __len__(self) -> int:
        """The bytes of the whole body; requests sends this as Content-Length."""
        return self._length

    def __iter__(self) -> Iterator[bytes]:
        """The body in blocks of 64 KiB."""
        self._source.seek(0)
        yield self._head
        while block := self._source.read(BLOCK_BYTES):
            self._digest.update(block)
            yield block
        yield self._tail
        self.is_sent = True

    @property
    def sha256(self) -> str:
        """The hash of the file, once it was sent."""
        return self._digest.hexdigest()


def convert(
    url: str,
    source: BinaryIO,
    filename: str,
    draft: Draft,
    timeouts: Timeouts,
    trace: str,
    identity: OwnIdentity | None = None,
) -> str:
    """Send `source` to the converter at `url` and write its PDF to `draft`. Returns the SHA-256 of the bytes sent.

    `identity` authenticates the worker, where the converter asks for it.

    Raises ConversionFault, and VolumeFull from the draft.
    """
    body = MultipartBody(source, filename)
    until = time.monotonic() + timeouts.function.total_seconds()
    try:
        with requests.Session() as session:
            session.trust_env = False  # no proxy from the environment may see the files
            known = identity.headers() if identity is not None else {}
            with _send(session, url, body, timeouts, {**known, "Gotenberg-Trace": trace}) as reply:
                _receive(reply, draft, until)
    except requests.RequestException as error:
        raise ConversionFault(_fault_of(body), f"{type(error).__name__}: {error}"[:500]) from error
    return body.sha256


def _send(
    session: requests.Session, url: str, body: MultipartBody, timeouts: Timeouts, headers: Mapping[str, str]
) -> requests.Response:
    return session.post(
        url + ROUTE,
        data=body,
        headers={**headers, "Content-Type": body.content_type},
        timeout=(timeouts.connect.total_seconds(), timeouts.request.total_seconds()),
        allow_redirects=False,
        stream=True,
    )


def _receive(reply: requests.Response, draft: Draft, until: float) -> None:
    if reply.status_code != 200:
        said = next(reply.iter_content(500), b"").decode("utf-8", "replace")
        fault = fault_of_answer(reply.status_code, said)
        raise ConversionFault(fault, f"{reply.status_code}: {said}", is_last=is_last_try(said))
    received = 0
    for block in reply.iter_content(BLOCK_BYTES):
        received += len(block)
        if received > LARGEST_PDF_BYTES:
            raise ConversionFault(Fault.INVALID_PDF, "the PDF is larger than 1 GiB")
        if time.monotonic() > until:
            raise ConversionFault(Fault.CONVERTER_CUT, "the PDF did not arrive in time")
        draft.write(block)
    declared = reply.headers.get("Content-Length")
    if declared is not None and received != int(declared):
        raise ConversionFault(Fault.CONVERTER_CUT, f"{received} of {declared} bytes")


def _fault_of(body: MultipartBody) -> Fault:
    """The fault of a broken request: before the whole file was sent, the file cannot be its cause."""
    return Fault.CONVERTER_CUT if body.is_sent else Fault.CONVERTER_UNREACHABLE
