"""Addresses under which one file can be fetched for a while without signing in, behind one interface.

A Cloud Run function may answer 32 MB at most; larger files are fetched from where they lie. `BucketSigner` makes
addresses of the bucket that is mounted as the media volume, `LocalSigner` ones of our own API, for one machine and for
tests: whoever asks for a large file is redirected in the same way by both.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol
from urllib.parse import quote

from shared.errors import LinkInvalid

LIFETIME: Final = timedelta(minutes=15)  # to begin the download; a player asks again when it jumps
LARGE_BYTES: Final = 30_000_000
"""From here on a file is not answered but redirected to, where signing is on."""
BUCKET_HOST: Final = "storage.googleapis.com"
LONGEST_TOKEN: Final = 2048


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
    """Addresses of our own API: the file's description, its end, and a MAC over both."""

    def __init__(self, key: str) -> None:
        """`key` is a secret of every process that signs or checks."""
        self._key = hashlib.sha256(key.encode()).digest()

    def download_url(self, file: SignedFile, now: datetime) -> str:
        """As UrlSigner; relative to this API."""
        until = int((now + LIFETIME).timestamp())
        said = json.dumps({**asdict(file), "until": until}, separators=(",", ":")).encode()
        return f"/api/files/signed/{_text(said)}.{_text(self._mac(said))}"

    def open(self, token: str, now: datetime) -> SignedFile:
        """What the last part of such an address stands for. Raises LinkInvalid, also when it has expired."""
        said, _, mac = token.partition(".")
        try:
            raw, given = _bytes(said), _bytes(mac)
        except (binascii.Error, ValueError):
            raise LinkInvalid from None
        if len(token) > LONGEST_TOKEN or not hmac.compare_digest(given, self._mac(raw)):
            raise LinkInvalid
        found = json.loads(raw)
        if now.timestamp() > found.pop("until"):
            raise LinkInvalid
        return SignedFile(**found)

    def _mac(self, said: bytes) -> bytes:
        return hmac.digest(self._key, said, "sha256")


class BucketSigner:
    """Addresses of a Cloud Storage bucket, signed with version 4 of its procedure (GOOG4-RSA-SHA256)."""

    def __init__(self, bucket: str, account: str, sign: Callable[[bytes], bytes]) -> None:
        """`sign` makes RSA-SHA256 signatures of the service account `account`."""
        self._bucket = bucket
        self._account = account
        self._sign = sign

    def download_url(self, file: SignedFile, now: datetime) -> str:
        """As UrlSigner; on the bucket's own host."""
        at = now.astimezone(UTC)
        scope = f"{at:%Y%m%d}/auto/storage/goog4_request"
        resource = "/" + quote(f"{self._bucket}/{file.path}", safe="/~")
        parameters = {
            "X-Goog-Algorithm": "GOOG4-RSA-SHA256",
            "X-Goog-Credential": f"{self._account}/{scope}",
            "X-Goog-Date": f"{at:%Y%m%dT%H%M%SZ}",
            "X-Goog-Expires": str(int(LIFETIME.total_seconds())),
            "X-Goog-SignedHeaders": "host",
            "response-content-disposition": file.disposition,
            "response-content-type": file.content_type,
        }
        query = "&".join(
            f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in sorted(parameters.items())
        )
        request = f"GET\n{resource}\n{query}\nhost:{BUCKET_HOST}\n\nhost\nUNSIGNED-PAYLOAD"
        digest = hashlib.sha256(request.encode()).hexdigest()
        signature = self._sign(f"GOOG4-RSA-SHA256\n{at:%Y%m%dT%H%M%SZ}\n{scope}\n{digest}".encode())
        return f"https://{BUCKET_HOST}{resource}?{query}&X-Goog-Signature={signature.hex()}"


def of_this_service(bucket: str) -> BucketSigner:
    """A signer of the service account that this process runs as: IAM signs for it, no key is kept here."""
    import google.auth  # noqa: PLC0415 - only where a large file is asked for
    import google.auth.transport.requests  # noqa: PLC0415
    from google.auth import iam  # noqa: PLC0415

    transport: Any = google.auth.transport.requests.Request()
    found: tuple[Any, Any] = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    credentials = found[0]
    credentials.refresh(transport)
    signing: Any = iam.Signer  # it has no types
    account: str = credentials.service_account_email
    return BucketSigner(bucket, account, signing(transport, credentials, account).sign)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
