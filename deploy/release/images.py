"""The images of a release, for both processors: by a Docker engine with buildx, where there is one.

They are pushed to the registry that pyproject.toml names; what a box or the cloud runs is also an OCI archive.
"""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Final

from deploy.parts.layout import write_file
from deploy.release.notes import Unready
from deploy.release.sbom import IMAGES, LICENCE, PRODUCT
from shared.version import STATED_IN

PLATFORMS: Final = ("linux/amd64", "linux/arm64")
TRIAL: Final = "trial"  # pushed alone: to look at the product
LABEL: Final = "org.opencontainers.image"
REGISTRY: Final[str] = tomllib.loads(STATED_IN.read_text(encoding="utf-8"))["tool"]["signage-fleet"]["images"]


def why_not(*, pushed: bool = False) -> str | None:
    """Why no image can be built here for both processors, or pushed; None if it can."""
    if pushed and REGISTRY.partition("/")[0].endswith(".invalid"):
        return f"pyproject.toml names no registry yet, but {REGISTRY}"
    if shutil.which("docker") is None:
        return "there is no program `docker`"
    asked = ["docker", "buildx", "inspect", "--bootstrap"]
    done = subprocess.run(asked, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        return f"`{' '.join(asked)}` failed: {said[0] if said else done.returncode}"
    if "docker" in re.findall(r"^Driver:\s+(\S+)", done.stdout, re.MULTILINE):
        return "the builder's driver `docker` writes no archive; `docker buildx create --use` makes a builder that does"
    told = ",".join(re.findall(r"^Platforms:\s+(.+)", done.stdout, re.MULTILINE))
    known = {one.strip(" *") for one in told.split(",")}
    missing = [one for one in PLATFORMS if one not in known]
    return f"the builder does not know {' and '.join(missing)}; Debian's qemu-user-static adds it" if missing else None


def name(stage: str, tag: str) -> str:
    """The name by which an image is pushed and pulled."""
    return f"{REGISTRY}/{stage}:{tag}"


def archive(stage: str, version: str) -> str:
    """The file of an image."""
    return f"{PRODUCT}-{stage}-{version}.oci.tar"


def build(sources: Path, folder: Path, version: str, commit: str, seconds: int, *, pushed: bool = False) -> None:
    """Build every image from unpacked sources into the folder. `seconds`: the time of all its files, since 1970.

    The bytes also depend on the day: Debian's packages and the image that ours begin with are the newest. With
    `pushed` they also go to the registry, as this version and the latest one, and images.txt has their digests.

    Raises:
        Unready: a build failed; its output is above.
    """
    lines = []
    for stage in (*IMAGES, *((TRIAL,) if pushed else ())):
        told = folder / f".{stage}.json"
        line = command(stage, sources, version, commit, seconds)
        if stage in IMAGES:
            line += ["--output", f"type=oci,dest={folder / archive(stage, version)},rewrite-timestamp=true"]
        if pushed:
            names = f"{name(stage, version)},{name(stage, 'latest')}"
            line += ["--output", f'type=image,"name={names}",push=true,rewrite-timestamp=true']
        done = subprocess.run([*line, "--metadata-file", str(told), str(sources)], check=False)
        if done.returncode != 0:
            raise Unready(f"the image {stage} could not be built{' or pushed' if pushed else ''}")
        if pushed:
            digest = json.loads(told.read_text(encoding="utf-8"))["containerimage.digest"]
            lines.append(f"{name(stage, version)}@{digest}\n")
        told.unlink(missing_ok=True)
    if pushed:
        write_file(folder / "images.txt", "".join(lines), 0o644)


def command(stage: str, sources: Path, version: str, commit: str, seconds: int) -> list[str]:
    """The command line that builds one image, without where it goes."""
    labels = {"title": f"{PRODUCT}-{stage}", "version": version, "revision": commit, "licenses": LICENCE}
    return [
        *("docker", "buildx", "build", "--file", str(sources / "deploy/docker/Dockerfile"), "--target", stage),
        *("--platform", ",".join(PLATFORMS)),
        *("--provenance=false", "--sbom=false"),  # they hold the time of the build
        *("--build-arg", f"SOURCE_DATE_EPOCH={seconds}"),
        *(word for label, value in labels.items() for word in ("--label", f"{LABEL}.{label}={value}")),
    ]
