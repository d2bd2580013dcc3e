"""The software bill of materials of a release: CycloneDX 1.6 as JSON.

It holds what the release brings or installs:

- the Python packages of requirements.lock, with the hashes of every file that pip may install, and who needs whom
- the vendored libraries of dashboard/vendor/VENDOR.json, with the hashes of their packages and files
- the image that ours begin with, and the Debian packages that they add: by name, because each build takes the newest
- the package of the display agent, which carries paho and jeepney
"""

import base64
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from deploy.release.notes import Unready

PRODUCT: Final = "signage-fleet"
LICENCE: Final = "Apache-2.0"
IMAGES: Final = ("app", "box")  # the stages of the Dockerfile that a release has
CARRIED: Final = ("jeepney", "paho-mqtt")  # by the display package
PACKAGE: Final = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[^ ]+)(?: ; (?P<marker>[^\\\n]+?))? \\\n"
    r"(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)(?P<via>(?:    #.*\n)*)"
)
HASH: Final = re.compile(r"[0-9a-f]{64}")
INSTALLED: Final = re.compile(r"apt-get install((?: [\w.+:-]+)+)")


@dataclass
class Bill:
    """Components by their reference, which is their package URL, and the references that each one needs."""

    product: str
    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    needs: dict[str, set[str]] = field(default_factory=dict)

    def add(self, reference: str, component: Mapping[str, Any], needed_by: Iterable[str]) -> None:
        """Add a component, and who needs it: references."""
        self.components[reference] = {"bom-ref": reference, "purl": reference, **component}
        self.needs.setdefault(reference, set())
        for one in needed_by:
            self.needs.setdefault(one, set()).add(reference)


def document(tree: Path, version: str, commit: str, made: datetime, display_package: str) -> dict[str, Any]:
    """The whole document as JSON values, from the files of this tree.

    `made`: the commit's time, in UTC; `display_package`: the SHA-256 of that package.

    Raises:
        Unready: a file has a line that this module cannot read, so that the bill would lack something.
    """
    bill = Bill(f"pkg:generic/{PRODUCT}@{version}")
    add_python(bill, (tree / "requirements.lock").read_text(encoding="utf-8"))
    add_vendored(bill, json.loads((tree / "dashboard/vendor/VENDOR.json").read_text(encoding="utf-8")))
    add_debian(bill, (tree / "deploy/docker/Dockerfile").read_text(encoding="utf-8"))
    add_display_package(bill, version, display_package)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{bill.product}#{commit}')}",
        "version": 1,
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": bill.product,
                "name": PRODUCT,
                "version": version,
                "licenses": _licences(LICENCE),
                "purl": bill.product,
            },
            "properties": _properties(commit=commit),
        },
        "components": [bill.components[reference] for reference in sorted(bill.components)],
        "dependencies": [
            {"ref": reference, "dependsOn": sorted(needed)} for reference, needed in sorted(bill.needs.items())
        ],
    }


def add_python(bill: Bill, lock: str) -> None:
    """Add every package of a lock file. Raises Unready for a line that belongs to none."""
    if strange := PACKAGE.sub("", lock).strip():
        raise Unready(f"requirements.lock: no package with hashes: {strange.splitlines()[0]}")
    for found in PACKAGE.finditer(lock):
        marker = found["marker"]
        name = _normal(found["name"])
        component = {
            "type": "library",
            "name": name,
            "version": found["version"],
            # A package has a file for each kind of machine; an installation takes one of them.
            "hashes": [_sha256(one) for one in HASH.findall(found["hashes"])],
            "externalReferences": [
                {
                    "type": "distribution",
                    "url": f"https://pypi.org/project/{name}/{quote(found['version'])}/#files",
                }
            ],
            **({"scope": "optional", "properties": _properties(marker=marker)} if marker else {}),
        }
        bill.add(_python(name, found["version"]), component, needed_by=())
    places = {one["name"]: reference for reference, one in bill.components.items()}
    for found in PACKAGE.finditer(lock):
        for name in _via(found["via"]):
            by = bill.product if name == "requirements.txt" else places[_normal(name)]
            bill.needs.setdefault(by, set()).add(places[_normal(found["name"])])


def _via(comment: str) -> list[str]:
    """The packages of a comment `# via …`; a list of requirements by the name of its file."""
    words = comment.replace("#", " ").split()
    return [word for word in words if word not in {"via", "-r"}]


def add_vendored(bill: Bill, vendored: Mapping[str, Mapping[str, str]]) -> None:
    """Add the packages of VENDOR.json, each with the files that were taken from it."""
    for file, one in sorted(vendored.items()):
        scope, _, name = one["package"].rpartition("/")
        reference = "/".join(["pkg:npm", *([quote(scope, safe="")] if scope else []), f"{name}@{one['version']}"])
        if reference not in bill.components:
            algorithm, _, digest = one["package_integrity"].partition("-")
            component = {
                "type": "library",
                **({"group": scope} if scope else {}),
                "name": name,
                "version": one["version"],
                "hashes": [{"alg": algorithm.replace("sha", "SHA-"), "content": base64.b64decode(digest).hex()}],
                "licenses": _licences(one["licence"]),
                "components": [],
            }
            bill.add(reference, component, needed_by=[bill.product])
        bill.components[reference]["components"].append(
            {
                "type": "file",
                "name": f"dashboard/vendor/{file}",
                "hashes": [_sha256(one["sha256"])],
            }
        )


def add_debian(bill: Bill, dockerfile: str) -> None:
    """Add the image that ours begin with, and the Debian packages that their stages install.

    Raises:
        Unready: no stage of the Dockerfile is one of IMAGES.
    """
    base, packages = debian_parts(dockerfile)
    name, _, tag = base.partition(":")
    image = {"type": "container", "name": name, "version": tag}
    bill.add(f"pkg:docker/{name}@{tag}", image, needed_by=[bill.product])
    for package in packages:
        reference = f"pkg:deb/debian/{package}?distro={tag.rpartition('-')[2]}"
        bill.add(reference, {"type": "library", "name": package}, needed_by=[bill.product])


def debian_parts(dockerfile: str) -> tuple[str, Sequence[str]]:
    """The image that ours begin with, and the names of the Debian packages that they add. Raises Unready."""
    stage, base, packages = "", "", list[str]()
    for line in dockerfile.replace("\\\n", " ").splitlines():
        if line.startswith("FROM "):
            _, source, _, stage = line.split()
            base = source if stage == IMAGES[0] else base
        elif stage in IMAGES:
            words = [word for found in INSTALLED.findall(" ".join(line.split())) for word in found.split()]
            packages += [word for word in words if not word.startswith("-")]
    if not base:
        raise Unready(f"deploy/docker/Dockerfile has no stage {IMAGES[0]}")
    return base, sorted(set(packages))


def add_display_package(bill: Bill, version: str, digest: str) -> None:
    """Add the package of the display agent, with what it carries. `digest`: its SHA-256."""
    reference = f"pkg:deb/{PRODUCT}/signage-display@{version}?arch=all"
    component = {
        "type": "application",
        "name": "signage-display",
        "version": version,
        "hashes": [_sha256(digest)],
        "licenses": _licences(LICENCE),
    }
    bill.add(reference, component, needed_by=[bill.product])
    carried = tuple(f"pkg:pypi/{name}@" for name in CARRIED)
    bill.needs[reference] |= {one for one in bill.components if one.startswith(carried)}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _python(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{quote(version, safe='')}"


def _sha256(digest: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": digest}


def _licences(name: str) -> list[dict[str, Any]]:
    return [{"license": {"id": name}}]


def _properties(**values: str) -> list[dict[str, str]]:
    return [{"name": f"{PRODUCT}:{name}", "value": value} for name, value in values.items()]
