"""A project of Google Cloud on loopback: it creates, returns and changes resources.

It refuses what Google refuses because of the order of changes: an API that is not enabled, a reference to a missing
resource, a grant to a missing account. It has no quotas, delays or organisation policies.
"""

import re
import threading
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

Body = dict[str, Any]
NUMBER: Final = "123456789012"
ALWAYS_ON: Final = {"serviceusage"}  # enabled in a new project, because gcloud needs them
VERSION: Final = re.compile(r"^(?:compute/v1|dns/v1|sql/v1beta4|storage/v1|v\d\w*)/")
PLACE: Final = re.compile(r"projects/[\w-]+/(?:global|regions/[\w-]+|zones/[\w-]+)/(\w+)/[a-z][\w-]*$")
OF_GOOGLE: Final = {"images", "machineTypes", "diskTypes", "regions", "zones"}


class Refused(Exception):
    """The request is refused with this status."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class Asked:
    """A request: `name` is the path after the API's version, with the project's id."""

    method: str
    name: str
    query: Mapping[str, str]
    body: Body


class Api:
    """An API with collections of resources, like most of Google's."""

    def __init__(self, project: "Project") -> None:
        self.project = project

    def special(self, asked: Asked) -> Body | None:
        """The answer to a request other than create, read and change; None if the request is one of these."""

    def said(self, asked: Asked) -> Body:
        """The fields that Google adds to a new resource or replaces."""
        return {"name": asked.body.get("name", asked.name)}

    def done(self, thing: Body) -> Body:
        """The answer after a creation or change."""
        return thing

    def answer(self, asked: Asked) -> Body:
        """Answer a request. Raises Refused."""
        special = self.special(asked)
        if special is not None:
            return special
        match asked.method:
            case "GET":
                return self.project.there(asked.name)
            case "POST":
                return self.done(self.make(asked))
            case "PATCH" | "PUT":
                return self.done(self.change(asked.name, asked.body))
        raise Refused(501, "not answered here")

    def make(self, asked: Asked) -> Body:
        """Create a resource under the given name, or under a number."""
        given = next((value for key, value in asked.query.items() if key.endswith("Id")), asked.body.get("name"))
        name = str(given or self.project.number())
        name = name if name.startswith("projects/") else f"{asked.name}/{name}"
        if name in self.project.things:
            raise Refused(409, "it is there already")
        self.project.see(asked.body)
        self.project.things[name] = asked.body | self.said(replace(asked, name=name))
        return self.project.things[name]

    def change(self, name: str, body: Body) -> Body:
        """Replace the given fields."""
        self.project.see(body)
        self.project.there(name).update(body)
        return self.project.there(name)


class Project:
    """The resources and their IAM policies."""

    def __init__(self, name: str, switched_on: Iterable[str], apis: Mapping[str, type[Api]]) -> None:
        self.name = name
        self.on = ALWAYS_ON | set(switched_on)
        self.apis = apis
        self.things: dict[str, Body] = {}
        self.policies: dict[str, Body] = {}
        self.refused: list[str] = []
        self.runs = 0
        """How often a job was run."""
        self.answers: int | None = None
        """How many requests are answered until the line is cut; None: all."""
        self.never_ready: str | None = None
        """The service whose revisions do not start."""
        self.machine_image = "cos-stable-1"
        self._numbers = 0
        self._lock = threading.Lock()

    def answer(self, method: str, host: str, path: str, query: Mapping[str, str], body: Body) -> Body:
        """Answer a request to an API. Raises Refused, and records the refusal."""
        api = host.removesuffix(".googleapis.com")
        name = VERSION.sub("", path).replace(f"projects/{NUMBER}", f"projects/{self.name}")
        with self._lock:
            try:
                return self._answer(api, Asked(method, name, query, body))
            except Refused as refused:
                self.refused.append(f"{method} {api} {name}: {refused}")
                raise

    def _answer(self, api: str, asked: Asked) -> Body:
        if self.answers is not None:
            self.answers -= 1
            if self.answers < 0:
                raise Refused(400, "the line is cut")
        if api not in self.on:
            raise Refused(403, f"{api} has not been used in project {NUMBER} before or it is disabled")
        if re.search(r":[gs]etIamPolicy$|^b/[^/]+/iam$", asked.name):
            new = asked.body if asked.method == "PUT" else asked.body.get("policy")
            return self._policy(re.sub(r":\w+$|/iam$", "", asked.name), new)
        return self.apis.get(api, Api)(self).answer(asked)

    def _policy(self, name: str, new: Body | None) -> Body:
        """Read or set a resource's policy. A change based on an older reading is refused."""
        kept = self.policies.setdefault(name, {"version": 1, "etag": "AA==", "bindings": []})
        if new is None:
            return kept
        if new.get("etag", kept["etag"]) != kept["etag"]:
            raise Refused(409, "it has been changed meanwhile")
        for member in (member for binding in new.get("bindings", ()) for member in binding["members"]):
            account = member.partition(":")[2]
            if account.endswith(f"@{self.name}.iam.gserviceaccount.com"):
                self.there(f"projects/{self.name}/serviceAccounts/{account}")
        kept.update(bindings=new.get("bindings", []), etag=f"{self.number():08d}")
        return kept

    def may(self, name: str, member: str, role: str) -> bool:
        """Whether a resource's own policy grants this role to a member."""
        bindings = self.policies.get(name, {}).get("bindings", ())
        return any(one["role"] == role and member in one["members"] for one in bindings)

    def there(self, name: str) -> Body:
        """The resource of this name. Raises Refused if it does not exist."""
        if name not in self.things:
            raise Refused(404, f"{name} was not found")
        return self.things[name]

    def below(self, name: str) -> list[Body]:
        """The resources of a collection."""
        return [thing for key, thing in self.things.items() if key.startswith(f"{name}/")]

    def see(self, body: Any) -> None:
        """Refuse references to missing resources."""
        for text in _strings(body):
            place = PLACE.search(text)
            if place and place[1] not in OF_GOOGLE:
                self.there(place[0].replace(f"projects/{NUMBER}", f"projects/{self.name}"))

    def number(self) -> int:
        """A unique number."""
        self._numbers += 1
        return self._numbers

    def secret_values(self) -> dict[str, str]:
        """Name of a secret -> its newest value."""
        versions = sorted(
            (name for name in self.things if "/versions/" in name), key=lambda name: int(name.split("/")[-1])
        )
        newest = {name.split("/")[3]: name for name in versions}
        return {secret: b64decode(self.things[name]["payload"]["data"]).decode() for secret, name in newest.items()}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for inner in value.values() for text in _strings(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _strings(inner))
