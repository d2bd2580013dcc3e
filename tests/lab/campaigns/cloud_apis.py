"""Google's APIs that are more than collections of resources, as far as deploy/gcp uses them."""

import re
from collections.abc import Iterator
from typing import Any, Final

from tests.deploy.cloud_rights import READS_A_SECRET
from tests.lab.campaigns.cloud_project import NUMBER, Api, Asked, Body, Refused

MADE_AT: Final = "2026-01-01T00:00:00Z"
LINK: Final = "https://www.googleapis.com/compute/v1"


class Compute(Api):
    """Networks, machines, the load balancer."""

    def special(self, asked: Asked) -> Body | None:
        thing, _, last = asked.name.rpartition("/")
        if "/images/" in asked.name:
            image = self.project.machine_image
            return {"name": image, "selfLink": f"{LINK}/projects/cos-cloud/global/images/{image}"}
        if asked.method == "GET" and (thing.endswith(("/zones", "/regions")) or thing == "projects"):
            return {"name": last, "selfLink": f"{LINK}/{asked.name}"}
        if last == "listInstances":
            return {"items": self.project.there(thing).get("instances", [])}
        if asked.method == "POST" and thing in self.project.things:
            said: dict[str, Body] = {
                "setLabels": {"labels": asked.body.get("labels")},
                "setMetadata": {"metadata": asked.body},
            }
            return self.done(self.change(thing, said.get(last, asked.body)))
        return None

    def said(self, asked: Asked) -> Body:
        number = self.project.number()
        address = {"address": f"192.0.2.{number}"} if "/addresses/" in asked.name else {}
        place = re.match(r"projects/[\w-]+/(zone|region)s/([\w-]+)/", asked.name)
        where = {place[1]: f"{LINK}/{place[0].rstrip('/')}"} if place else {}
        prints = {"fingerprint": "AA==", "labelFingerprint": "AA=="}
        return {
            "id": str(number),
            "selfLink": f"{LINK}/{asked.name}",
            "status": "RUNNING",
            **prints,
            **address,
            **where,
        }

    def done(self, thing: Body) -> Body:
        number = self.project.number()
        return {"name": f"operation-{number}", "status": "DONE", "targetLink": thing["selfLink"]}


class Operations(Api):
    """APIs that answer with an operation, which is done at once."""

    def done(self, thing: Body) -> Body:
        return {"name": f"operations/{self.project.number()}", "done": True, "response": thing}


class Run(Operations):
    """Services and jobs: they are refused until they may read their secrets."""

    def special(self, asked: Asked) -> Body | None:
        if not asked.name.endswith(":run"):
            return None
        self.project.there(asked.name.removesuffix(":run"))
        self.project.runs += 1
        return self.done({})

    def said(self, asked: Asked) -> Body:
        self._see_secrets(asked.body)
        ready = {"type": "Ready", "state": "CONDITION_SUCCEEDED"}
        return {"name": asked.name, "uid": str(self.project.number()), "launchStage": "GA", "terminalCondition": ready}

    def change(self, name: str, body: Body) -> Body:
        self._see_secrets(body)
        return super().change(name, body)

    def done(self, thing: Body) -> Body:
        """The operation, with an error if the revision cannot start."""
        operation = super().done(thing)
        if self.project.never_ready and thing.get("name", "").endswith(f"/{self.project.never_ready}"):
            del operation["response"]
            operation["error"] = {"code": 9, "message": "the revision is not ready and cannot serve traffic"}
        return operation

    def _see_secrets(self, body: Body) -> None:
        template = body["template"].get("template", body["template"])
        account = f"serviceAccount:{template['serviceAccount']}"
        for secret, version in _secrets(template):
            name = f"projects/{self.project.name}/secrets/{secret.rpartition('/')[2]}"
            self.project.there(f"{name}/versions/{version}")
            if not self.project.may(name, account, READS_A_SECRET):
                raise Refused(400, f"{account} may not read {secret}")


def _secrets(value: Any) -> Iterator[tuple[str, str]]:
    """(secret, version) of every reference of a service."""
    if isinstance(value, dict):
        if isinstance(value.get("secret"), str):
            yield value["secret"], value.get("version") or value["items"][0]["version"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _secrets(inner)


class SecretManager(Api):
    """Secrets, and their numbered versions."""

    def special(self, asked: Asked) -> Body | None:
        thing, _, verb = asked.name.partition(":")
        match verb:
            case "addVersion":
                number = 1 + len(self.project.below(f"{thing}/versions"))
                told = asked.body | {"state": "ENABLED"}
                return self.make(Asked("POST", f"{thing}/versions", {"versionId": str(number)}, told))
            case "access":
                return self.project.there(thing)
            case "enable" | "destroy":
                return self.change(thing, {"state": "ENABLED" if verb == "enable" else "DESTROYED"})
        return None

    def said(self, asked: Asked) -> Body:
        return {"name": asked.name.replace(self.project.name, NUMBER), "createTime": MADE_AT}


class SqlAdmin(Api):
    """The database instance, its databases and users."""

    def special(self, asked: Asked) -> Body | None:
        if not asked.name.endswith("/users"):
            return None
        if asked.method == "PUT":
            return self.done(self.change(f"{asked.name}/{asked.query['name']}", asked.body))
        return {"items": self.project.below(asked.name)} if asked.method == "GET" else None

    def said(self, asked: Asked) -> Body:
        link = {"selfLink": f"https://sqladmin.googleapis.com/sql/v1beta4/{asked.name}"}
        if "settings" not in asked.body:
            return link
        return link | {
            "state": "RUNNABLE",
            "connectionName": f"{self.project.name}:{asked.body['region']}:{asked.body['name']}",
            "ipAddresses": [{"type": "PRIVATE", "ipAddress": "10.100.0.3"}],
            "serverCaCert": {"cert": "-----BEGIN CERTIFICATE-----\n", "commonName": "its own"},
            "settings": {"activationPolicy": "ALWAYS", "settingsVersion": "1"} | asked.body["settings"],
        }

    def done(self, thing: Body) -> Body:
        return {"name": f"operation-{self.project.number()}", "status": "DONE", "targetLink": thing["selfLink"]}


class Dns(Api):
    """Zones, and records, which are created by changes."""

    def special(self, asked: Asked) -> Body | None:
        zone, last = re.sub(r"/(changes|rrsets).*", "", asked.name), asked.name.rpartition("/")[2]
        if last == "rrsets":
            return {"rrsets": self.project.there(zone).setdefault("records", [])}
        if asked.method == "POST" and last == "changes":
            records = self.project.there(zone).setdefault("records", [])
            records[:] = [one for one in records if one not in asked.body.get("deletions", ())]
            records += asked.body.get("additions", [])
        return {"id": "1", "status": "done"} if "/changes" in asked.name else None

    def said(self, asked: Asked) -> Body:
        return {"name": asked.body["name"], "id": str(self.project.number())}


class Storage(Api):
    """Buckets."""

    def said(self, asked: Asked) -> Body:
        told = asked.body
        return {
            "id": told["name"],
            "location": told["location"].upper(),
            "selfLink": asked.name,
            "projectNumber": NUMBER,
        }


class Scheduler(Api):
    """Jobs, whose retry settings have defaults."""

    def said(self, asked: Asked) -> Body:
        times = {"maxRetryDuration": "0s", "minBackoffDuration": "5s", "maxBackoffDuration": "3600s"}
        return {"state": "ENABLED", "retryConfig": times | {"maxDoublings": 5} | asked.body.get("retryConfig", {})}


class ServiceUsage(Operations):
    """The enabled APIs."""

    def special(self, asked: Asked) -> Body | None:
        collection = asked.name.partition(":")[0]
        if asked.method == "GET":
            on = [f"{collection}/{api}.googleapis.com" for api in sorted(self.project.on)]
            return {"services": [{"name": name, "state": "ENABLED"} for name in on]}
        new = asked.body.get("serviceIds", [collection.rpartition("/")[2]])
        self.project.on |= {api.removesuffix(".googleapis.com") for api in new}
        return self.done({})


class ResourceManager(Api):
    """The project itself."""

    def special(self, asked: Asked) -> Body | None:
        found = {"projectId": asked.name.rpartition("/")[2], "projectNumber": NUMBER, "name": "Signage"}
        return found | {"lifecycleState": "ACTIVE"}


class ServiceNetworking(Operations):
    """The connection between the database's network and ours."""

    def special(self, asked: Asked) -> Body | None:
        return {"connections": self.project.below(asked.name)} if asked.method == "GET" else None

    def said(self, asked: Asked) -> Body:
        return {"peering": "servicenetworking-googleapis-com", "service": asked.name.partition("/connections")[0]}


class Iam(Api):
    """Accounts."""

    def make(self, asked: Asked) -> Body:
        email = f"{asked.body['accountId']}@{self.project.name}.iam.gserviceaccount.com"
        name = f"{asked.name}/{email}"
        told = {"name": name, "email": email, "projectId": self.project.name, "uniqueId": str(self.project.number())}
        return super().make(Asked("POST", asked.name, {}, asked.body.get("serviceAccount", {}) | told))


APIS: Final[dict[str, type[Api]]] = {
    "compute": Compute,
    "run": Run,
    "secretmanager": SecretManager,
    "sqladmin": SqlAdmin,
    "dns": Dns,
    "storage": Storage,
    "cloudscheduler": Scheduler,
    "serviceusage": ServiceUsage,
    "cloudresourcemanager": ResourceManager,
    "servicenetworking": ServiceNetworking,
    "iam": Iam,
}
