"""Our API as a script asks it, and settings from the environment."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import requests

from shared import typed

ANSWER_SECONDS: Final = (5.0, 10.0)  # for a connection, and for the next bytes
NOT_NOW: Final = (429, 500, 502, 503, 504)


class Misconfigured(Exception):
    """A setting is missing or malformed; the message names it."""


def needed(environment: Mapping[str, str], name: str) -> str:
    """The value of a setting. Raises Misconfigured when it is missing."""
    if not (value := environment.get(name, "").strip()):
        raise Misconfigured(f"{name} is missing")
    return value


def check_url(name: str, url: str, schemes: tuple[str, ...]) -> None:
    """Raises Misconfigured unless it is a URL of one of these schemes, with a host."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in schemes and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good:
        raise Misconfigured(f"{name}: expected {' or '.join(f'{one}://' for one in schemes)} with a host")


class Unanswered(Exception):
    """There is no answer, or not now: nobody knows whether a request was carried out."""


class Refused(Exception):
    """The API refused; the message is its sentence. `locked_until`: the end of a lockout, if that is why."""

    def __init__(self, sentence: str, locked_until: datetime | None = None) -> None:
        super().__init__(sentence)
        self.locked_until = locked_until


class _Problem(msgspec.Struct):
    detail: str = ""
    title: str = ""
    lockout_until: datetime | None = None


class Authorization(requests.auth.AuthBase):
    """The header of this name, or none for "". As a header alone it would give way to a line of ~/.netrc."""

    def __init__(self, value: str) -> None:
        self._value = value

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._value:
            request.headers["Authorization"] = self._value
        return request


class Api:
    """Our API, with a token."""

    def __init__(self, url: str, token: str) -> None:
        """Does not connect yet."""
        self._url = url
        self._session = requests.Session()
        self._session.auth = Authorization(f"Bearer {token}")

    def ask(self, method: str, path: str, **options: Any) -> bytes:
        """The body of the answer. Raises Unanswered or Refused."""
        try:
            answer = self._session.request(
                method, self._url + path, timeout=ANSWER_SECONDS, allow_redirects=False, **options
            )
        except (requests.RequestException, OSError) as error:
            raise Unanswered(type(error).__name__) from error
        if answer.status_code in NOT_NOW:
            raise Unanswered(f"status {answer.status_code}")
        if not answer.ok or answer.is_redirect:
            raise _refusal(answer)
        return answer.content


def _refusal(answer: requests.Response) -> Refused:
    try:
        problem = typed.decode(answer.content, _Problem)
    except msgspec.DecodeError:
        return Refused(f"status {answer.status_code}")
    return Refused(problem.detail or problem.title or f"status {answer.status_code}", problem.lockout_until)
