"""Enrol the demo's displays over the HTTP API and store their logins.

As for every display, an admin requests a one-time code, and the display exchanges it for its login. The admin's PATCH
sets names, sites and tags. A display that still has its login, and that the service still knows, is not changed.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import requests

from displays.client.credentials import Credentials
from displays.simulated.behaviours import Role

TIMEOUT_SECONDS: Final = 10.0


class EnrolmentRefused(Exception):
    """The service refuses this display; the text has its answer."""


class Enroller:
    """An admin's session with the API at `api_url` (without `/api`), and the folder of the logins."""

    def __init__(self, api_url: str, admin_token: str, folder: Path, mqtt_url: str | None) -> None:
        self._url = api_url.rstrip("/")
        self._api = self._url + "/api"
        self._folder = folder
        self._mqtt_url = mqtt_url  # the present address of the displays' listener; None: as at enrolment
        self._http = requests.Session()
        self._http.trust_env = False  # no proxy, no .netrc: the stack is on this machine
        self._admin = {"Authorization": f"Bearer {admin_token}"}

    def credentials_for(self, role: Role) -> Credentials:
        """The display's login, from its file or by enrolling it now.

        Raises:
            EnrolmentRefused: the service refuses this display.
            requests.RequestException: the service cannot be reached.
        """
        path = self._folder / role.uuid / "credentials.json"
        credentials = _stored(path)
        if credentials is None or not self._is_known(role.uuid):
            credentials = self._enrol(role, path)
        credentials = replace(credentials, url=self._url)  # where the service is now
        return credentials.at(self._mqtt_url) if self._mqtt_url else credentials

    def close(self) -> None:
        self._http.close()

    def _is_known(self, identity: str) -> bool:
        """Whether the service knows this display. After a reset of the database the old login is invalid."""
        answer = self._http.get(f"{self._api}/clients/{identity}", headers=self._admin, timeout=TIMEOUT_SECONDS)
        return answer.status_code != 404

    def _enrol(self, role: Role, path: Path) -> Credentials:
        code = self._call("POST", f"/clients/{role.uuid}/enrolment", self._admin)["code"]
        place = {"name": role.name, "site": role.site, "tags": list(role.tags)}
        self._call("PATCH", f"/clients/{role.uuid}", self._admin, place)
        login = self._call("POST", "/enroll", {}, {"code": code})  # the display's own request, with the code alone
        credentials = Credentials.from_enrolment(login, self._url)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        credentials.save(path)
        return credentials

    def _call(
        self, method: str, path: str, headers: Mapping[str, str], body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        answer = self._http.request(method, self._api + path, headers=headers, json=body, timeout=TIMEOUT_SECONDS)
        if answer.status_code == 429 or answer.status_code >= 500:
            answer.raise_for_status()  # a temporary error: try again
        if not answer.ok:
            raise EnrolmentRefused(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        result: dict[str, Any] = answer.json()
        return result


def _stored(path: Path) -> Credentials | None:
    """The stored login; None when the file is missing or damaged."""
    try:
        return Credentials.load(path)
    except (OSError, ValueError, TypeError):
        return None
