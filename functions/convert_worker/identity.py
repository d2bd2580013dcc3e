"""Authenticate the worker to the converter, by an identity token of its service account.

In the cloud, Cloud Run lets only the worker call the converter. The token comes from the metadata server of the
instance, so there is no key that could be stolen.
"""

import base64
import json
import threading
import time
from collections.abc import Callable
from typing import Final

import requests

METADATA_URL: Final = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity"
TIMEOUT: Final = (2.0, 5.0)  # seconds to connect, and to wait for bytes
BEFORE_ITS_END_SECONDS: Final = 300  # a token is not used in its last minutes: sending a deck may take that long


class OwnIdentity:
    """Tokens for one audience, each cached until shortly before it expires. Safe to share between threads."""

    def __init__(self, audience: str, metadata_url: str = METADATA_URL, clock: Callable[[], float] = time.time) -> None:
        """`audience` is the address of the converter; `clock` gives seconds since 1970."""
        self._audience = audience
        self._metadata_url = metadata_url
        self._clock = clock
        self._lock = threading.Lock()
        self._token = ""  # nosec B105 - none yet
        self._good_until = 0.0

    def headers(self) -> dict[str, str]:
        """The headers of a request to the converter. Raises requests.RequestException when there is no token."""
        with self._lock:
            if self._clock() >= self._good_until:
                self._token = self._fetch()
                self._good_until = _end_of(self._token) - BEFORE_ITS_END_SECONDS
            return {"Authorization": f"Bearer {self._token}"}

    def _fetch(self) -> str:
        with requests.Session() as session:
            session.trust_env = False
            asked = {"audience": self._audience, "format": "full"}
            flavor = {"Metadata-Flavor": "Google"}
            answer = session.get(self._metadata_url, params=asked, headers=flavor, timeout=TIMEOUT)
        answer.raise_for_status()
        return answer.text.strip()


def _end_of(token: str) -> float:
    """When a token expires, in seconds since 1970. The converter checks the signature. Raises RequestException."""
    try:
        claims = token.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise requests.exceptions.InvalidJSONError("the metadata server sent no token") from error
