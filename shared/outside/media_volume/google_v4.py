"""Addresses of a Cloud Storage bucket, signed with version 4 of its procedure (GOOG4-RSA-SHA256)."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

BUCKET_HOST: Final = "storage.googleapis.com"
ALGORITHM: Final = "GOOG4-RSA-SHA256"


@dataclass(frozen=True)
class BucketKey:
    """Who signs for which bucket."""

    bucket: str
    account: str
    sign: Callable[[bytes], bytes]
    """Makes RSA-SHA256 signatures of the service account `account`."""

    def url(
        self,
        method: str,
        path: str,
        now: datetime,
        lifetime: timedelta,
        parameters: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """The address at which the object `path` can be asked for with this method, and with these headers alone.

        `headers` are by lower-case name; the request must send each as it was signed.
        """
        at = now.astimezone(UTC)
        scope = f"{at:%Y%m%d}/auto/storage/goog4_request"
        signed = {"host": BUCKET_HOST, **(headers or {})}
        said = {
            "X-Goog-Algorithm": ALGORITHM,
            "X-Goog-Credential": f"{self.account}/{scope}",
            "X-Goog-Date": f"{at:%Y%m%dT%H%M%SZ}",
            "X-Goog-Expires": str(int(lifetime.total_seconds())),
            "X-Goog-SignedHeaders": ";".join(sorted(signed)),
            **(parameters or {}),
        }
        resource = "/" + quote(f"{self.bucket}/{path}", safe="/~")
        query = "&".join(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in sorted(said.items()))
        digest = hashlib.sha256(_request(method, resource, query, signed).encode()).hexdigest()
        signature = self.sign(f"{ALGORITHM}\n{said['X-Goog-Date']}\n{scope}\n{digest}".encode())
        return f"https://{BUCKET_HOST}{resource}?{query}&X-Goog-Signature={signature.hex()}"


def _request(method: str, resource: str, query: str, headers: Mapping[str, str]) -> str:
    """The request in the one form that both sides hash."""
    names = sorted(headers)
    lines = "".join(f"{name}:{headers[name]}\n" for name in names)
    return f"{method}\n{resource}\n{query}\n{lines}\n{';'.join(names)}\nUNSIGNED-PAYLOAD"


def of_this_service(bucket: str) -> BucketKey:
    """The key of the service account that this process runs as: IAM signs for it, no key is kept here."""
    import google.auth  # noqa: PLC0415 - only where an address of the bucket is asked for
    import google.auth.transport.requests  # noqa: PLC0415
    from google.auth import iam  # noqa: PLC0415

    transport: Any = google.auth.transport.requests.Request()
    found: tuple[Any, Any] = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    credentials = found[0]
    credentials.refresh(transport)
    signing: Any = iam.Signer  # it has no types
    account: str = credentials.service_account_email
    return BucketKey(bucket, account, signing(transport, credentials, account).sign)
