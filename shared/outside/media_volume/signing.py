"""Addresses under which one file can be fetched for a while without signing in, behind one interface.

A Cloud Run function may answer 32 MB at most; larger files are fetched from where they lie. `BucketSigner` makes
addresses of the bucket that is mounted as the media volume, `LocalSigner` ones of our own API, for one machine and for
tests: whoever asks for a large file is redirected in the same way by both.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from shared.outside.media_volume.google_v4 import BucketKey
from shared.outside.media_volume.sealing import Seal

LIFETIME: Final = timedelta(minutes=15)  # to begin the download; a player asks again when it jumps
LARGE_BYTES: Final = 30_000_000
"""From here on a file is not answered but redirected to, where signing is on."""


@dataclass(frozen=True)
class SignedFile:
    """What an address leads to, and how it is to be answered."""

    path: str
    """Below the root of the volume."""
    content_type: str
    disposition: str
    """The whole Content-Disposition."""


class UrlSigner(Protocol):
    """Makes addresses that expire."""

    def download_url(self, file: SignedFile, now: datetime) -> str:
        """Where the file can be fetched with GET until LIFETIME has passed."""
        ...


class LocalSigner:
    """Addresses of our own API: the file's description and its end."""

    def __init__(self, key: str) -> None:
        """`key` is a secret of every process that signs or checks."""
        self._seal = Seal(key, "download")

    def download_url(self, file: SignedFile, now: datetime) -> str:
        """As UrlSigner; relative to this API."""
        return f"/api/files/signed/{self._seal.close(asdict(file), now + LIFETIME)}"

    def open(self, token: str, now: datetime) -> SignedFile:
        """What the last part of such an address stands for. Raises LinkInvalid, also when it has expired."""
        return SignedFile(**self._seal.open(token, now))


@dataclass(frozen=True)
class BucketSigner:
    """Addresses of a Cloud Storage bucket."""

    key: BucketKey

    def download_url(self, file: SignedFile, now: datetime) -> str:
        """As UrlSigner; on the bucket's own host."""
        parameters = {
            "response-content-disposition": file.disposition,
            "response-content-type": file.content_type,
        }
        return self.key.url("GET", file.path, now, LIFETIME, parameters)
