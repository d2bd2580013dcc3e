"""The planned state of deploy/gcp, read from the output of `terraform show -json`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

TARGETS: Final = {  # type of a grant -> kind of its target, and the value that names the target
    "google_cloud_tasks_queue_iam_member": ("queue", "name"),
    "google_service_account_iam_member": ("account", "service_account_id"),
    "google_storage_bucket_iam_member": ("bucket", "bucket"),
    "google_secret_manager_secret_iam_member": ("secret", "secret_id"),
    "google_cloud_run_v2_service_iam_member": ("service", "name"),
    "google_iap_web_backend_service_iam_member": ("door", "web_backend_service"),
    "google_project_iam_member": ("project", ""),
}
OURS: Final = re.compile(r"serviceAccount:signage-([\w-]+)@")
FETCHED: Final = re.compile(r"=projects/[\w-]+/secrets/([\w-]+)/versions/")


@dataclass(frozen=True)
class Resource:
    """A planned resource."""

    address: str
    type: str
    values: dict[str, Any]

    @property
    def name(self) -> str:
        """Its name in the cloud."""
        return str(self.values["name"])

    def at(self, path: str) -> Any:
        """The value at a path such as `template.timeout`, in the first of several blocks; None without one."""
        found: Any = self.values
        for step in path.split("."):
            found = found[0] if isinstance(found, list) and found else found
            found = found.get(step) if isinstance(found, dict) else None
        return found

    def all(self, path: str) -> list[Any]:
        """All values at a path, in all blocks."""
        found: list[Any] = [self.values]
        for step in path.split("."):
            found = [inner for one in found if isinstance(one, dict) for inner in _several(one.get(step))]
        return found


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


@dataclass(frozen=True)
class Grant:
    """A member's role on a target."""

    member: str
    role: str
    target: str

    @property
    def account(self) -> str:
        """The member: own accounts without `signage-`, people; others by their full name."""
        ours = OURS.match(self.member)
        if ours:
            return ours[1]
        return "people" if self.member.startswith(("group:", "user:", "domain:")) else self.member


@dataclass(frozen=True)
class Plan:
    """The planned state."""

    document: dict[str, Any]

    @cached_property
    def resources(self) -> list[Resource]:
        """The resources of the root and of all modules."""
        found = everything(self.document["planned_values"]["root_module"])
        return [Resource(one["address"], one["type"], one["values"]) for one in found]

    @property
    def deleted(self) -> list[str]:
        """The addresses of deleted or replaced resources, without runs of the migrations."""
        changes = [one for one in self.document["resource_changes"] if one["type"] != "terraform_data"]
        return [one["address"] for one in changes if "delete" in one["change"]["actions"]]

    def of(self, kind: str) -> list[Resource]:
        """The resources of a type, given without `google_`."""
        return [resource for resource in self.resources if resource.type == f"google_{kind}"]

    @cached_property
    def services(self) -> dict[str, Resource]:
        """Name without `signage-` -> service of Cloud Run."""
        return {service.name.removeprefix("signage-"): service for service in self.of("cloud_run_v2_service")}

    @cached_property
    def grants(self) -> list[Grant]:
        """All grants to members."""
        return [_grant(resource) for resource in self.resources if resource.type in TARGETS]

    @cached_property
    def secrets(self) -> set[tuple[str, str]]:
        """(account, secret) of all given secrets: as a variable, as a file, or fetched at the machine's start."""
        found = set()
        for service in [*self.of("cloud_run_v2_service"), *self.of("cloud_run_v2_job")]:
            account = service.at("template.service_account") or service.at("template.template.service_account")
            inside = "template.template" if service.type.endswith("_job") else "template"
            told = service.all(f"{inside}.containers.env.value_source.secret_key_ref.secret")
            files = service.all(f"{inside}.volumes.secret.secret")
            found |= {(_short(account), _short(secret)) for secret in [*told, *files]}
        for machine in self.of("compute_instance"):
            fetched = FETCHED.findall(machine.values["metadata"]["user-data"])
            found |= {(_short(machine.at("service_account.email")), _short(secret)) for secret in fetched}
        return found


def everything(module: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The planned resources of a module and those below it, as in the document."""
    yield from (one for one in module.get("resources", ()) if one["mode"] == "managed")
    for child in module.get("child_modules", ()):
        yield from everything(child)


def _grant(resource: Resource) -> Grant:
    kind, value = TARGETS[resource.type]
    named = _short(str(resource.values[value])) if value else ""
    name = "media" if kind == "bucket" and named.endswith("-signage-media") else named
    return Grant(str(resource.values["member"]), str(resource.values["role"]), f"{kind} {name}".strip())


def _short(name: str) -> str:
    """The last part of a path or an address, without `signage-`."""
    return name.rpartition("/")[2].partition("@")[0].removeprefix("signage-")
