"""The service's HTTP API, as the check uses it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import requests

SECONDS = 30


@dataclass(frozen=True)
class Service:
    """The service at `url`, with an admin's token. The methods raise requests.RequestException."""

    url: str
    token: str = field(repr=False)

    async def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """POST a document. Returns status and document of the answer."""
        answer = await asyncio.to_thread(
            requests.post, self.url + path, json=body, headers=self._headers(), timeout=SECONDS
        )
        return answer.status_code, answer.json()

    async def is_over(self, command_id: str) -> bool:
        """Whether the command has ended."""
        return (await self._get(f"/api/commands/{command_id}")).json().get("finished_at") is not None

    async def picture_of(self, uuid: str, command_id: str) -> bytes | None:
        """The JPEG that the client sent for this command; None without one."""
        found = (await self._get(f"/api/clients/{uuid}/screenshots")).json().get("items", ())
        picture = next((one["id"] for one in found if one["command_id"] == command_id), None)
        return None if picture is None else (await self._get(f"/api/screenshots/{picture}")).content

    async def _get(self, path: str) -> requests.Response:
        return await asyncio.to_thread(requests.get, self.url + path, headers=self._headers(), timeout=SECONDS)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}
