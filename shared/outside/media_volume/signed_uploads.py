"""Addresses to which one file can be sent for a while without signing in, behind one interface.

Both forms are spoken to alike, as Cloud Storage's resumable uploads are: POST to the address with the headers that
come with it, take `Location` from the answer, PUT the bytes there, whole or in ranges, and where the connection broke
ask with `Content-Range: bytes */<length>` how far it went. `BucketUploads` leads to the bucket that is mounted as the
media volume, so that not a byte passes through a function; `LocalUploads` to our own API, for one machine and tests.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from shared.outside.media_volume.google_v4 import BucketKey
from shared.outside.media_volume.sealing import Seal
from shared.vocabulary import UploadWay

START_LIFETIME: Final = timedelta(minutes=15)
"""To begin; what was begun may go on until the upload expires."""
RESUMABLE: Final = {"x-goog-resumable": "start"}


@dataclass(frozen=True)
class PlannedUpload:
    """A file that is to come."""

    upload_id: str
    path: str
    """Below the root of the volume: where it lies as one part, when it came by the bucket."""
    bytes: int
    expires_at: datetime


@dataclass(frozen=True)
class UploadAddress:
    """Where a client begins to send."""

    method: str
    url: str
    headers: dict[str, str]
    """To be sent as they are."""


class SignedUploads(Protocol):
    """Makes addresses to send a file to."""

    @property
    def way(self) -> UploadWay:
        """Past us or through us."""
        ...

    def address(self, upload: PlannedUpload, now: datetime) -> UploadAddress:
        """Where the file can be begun to be sent until START_LIFETIME has passed."""
        ...


class LocalUploads:
    """Addresses of our own API: the upload's id and its end. One begins a session, the other one is it."""

    way: UploadWay = UploadWay.SIGNED

    def __init__(self, key: str) -> None:
        """`key` is a secret of every process that signs or checks."""
        self._start, self._session = Seal(key, "upload start"), Seal(key, "upload session")

    def address(self, upload: PlannedUpload, now: datetime) -> UploadAddress:
        """As SignedUploads; relative to this API."""
        until = min(now + START_LIFETIME, upload.expires_at)
        token = self._start.close({"upload_id": upload.upload_id}, until)
        return UploadAddress("POST", f"/api/files/signed-uploads/{token}", dict(RESUMABLE))

    def session_url(self, upload_id: str, until: datetime) -> str:
        """Where the bytes of an upload that was begun are sent."""
        return f"/api/files/upload-sessions/{self._session.close({'upload_id': upload_id}, until)}"

    def open_start(self, token: str, now: datetime) -> str:
        """The upload that an address begins. Raises LinkInvalid."""
        upload_id: str = self._start.open(token, now)["upload_id"]
        return upload_id

    def open_session(self, token: str, now: datetime) -> str:
        """The upload whose bytes are sent to a session. Raises LinkInvalid."""
        upload_id: str = self._session.open(token, now)["upload_id"]
        return upload_id


@dataclass(frozen=True)
class BucketUploads:
    """Addresses of a Cloud Storage bucket, which takes exactly as many bytes as were announced."""

    key: BucketKey
    way: UploadWay = UploadWay.BUCKET

    def address(self, upload: PlannedUpload, now: datetime) -> UploadAddress:
        """As SignedUploads; on the bucket's own host."""
        headers = {**RESUMABLE, "x-goog-content-length-range": f"{upload.bytes},{upload.bytes}"}
        return UploadAddress("POST", self.key.url("POST", upload.path, now, START_LIFETIME, headers=headers), headers)
