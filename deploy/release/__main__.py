"""`make release`: builds everything of a release from the commit that is checked out, and signs it.

    python -m deploy.release --sign KEY [--images needed] [--into FOLDER]

KEY is the file of a maintainer's SSH key (of its public half where an agent holds it), or the word `cosign`, which
signs without a key, as the person or workflow that runs it. Into FOLDER/signage-fleet-VERSION/ it writes

    signage-fleet-VERSION.tar.gz       the sources
    signage-display_VERSION_all.deb    the display agent
    signage-fleet-app-VERSION.oci.tar  the images for amd64 and arm64, and -box-; left out with a word where no
                                       engine with buildx can build them, unless they are `needed`
    signage-fleet-VERSION.cdx.json     the software bill of materials
    notes.md                           what the changelog says about it
    SHA256SUMS                         the sums of all these, and its signature

The folder appears when all is done. Exit code 2 with a sentence when something is not ready.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from deploy.parts import display_package
from deploy.parts.layout import REPOSITORY, write_file
from deploy.release import images, notes, sbom
from deploy.release.notes import Unready
from deploy.release.sbom import PRODUCT
from shared.version import version

SUMS: Final = "SHA256SUMS"
COSIGN: Final = "cosign"
NAMESPACE: Final = "signage-fleet"  # of an SSH signature: one for another purpose is no signature of a release


@dataclass(frozen=True)
class Release:
    """One commit as a version."""

    version: str
    commit: str
    seconds: int  # the commit's time, since 1970

    @property
    def name(self) -> str:
        """Its folder, and the beginning of the names of its files."""
        return f"{PRODUCT}-{self.version}"

    @property
    def made(self) -> datetime:
        """The commit's time."""
        return datetime.fromtimestamp(self.seconds, UTC)


def checked_out() -> Release:
    """The release that the working tree is.

    Raises:
        Unready: it is not the tagged commit of its version, unchanged.
    """
    number = version()
    commit, seconds = _git("log", "-1", "--format=%H %ct").split()
    if changed := _git("status", "--porcelain").splitlines():
        raise Unready(f"the tree is not as committed: {', '.join(line[3:] for line in changed[:5])}")
    tag = f"v{number}"
    if tag not in _git("tag", "--points-at", "HEAD").split():
        elsewhere = _git("tag", "--list", tag)
        raise Unready(
            f"{tag} is the tag of another commit: {number} was released; raise the version in pyproject.toml"
            if elsewhere
            else f"this commit has no tag {tag}: git tag {tag}"
        )
    return Release(number, commit, int(seconds))


def _git(*words: str) -> str:
    """What git prints, without the end of the last line. Raises Unready."""
    try:
        done = subprocess.run(["git", *words], cwd=REPOSITORY, check=False, capture_output=True, text=True)
    except OSError as error:
        raise Unready(f"git: {error.strerror}") from None
    if done.returncode != 0:
        raise Unready(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")


def build(release: Release, text: str, folder: Path, *, with_images: bool) -> None:
    """Write all files of the release but its signature into an empty folder. `text`: its notes. Raises Unready."""
    _archive(release, folder)
    with tempfile.TemporaryDirectory(prefix=f"{PRODUCT}-") as scratch:
        package = display_package.file_name()
        try:
            display_package.build(Path(scratch), package)
        except display_package.Unbuildable as error:
            raise Unready(f"display package: {error}") from None
        shutil.copyfile(Path(scratch) / package, folder / package)
    digest = hashlib.sha256((folder / package).read_bytes()).hexdigest()
    bill = sbom.document(REPOSITORY, release.version, release.commit, release.made, digest)
    write_file(folder / f"{release.name}.cdx.json", json.dumps(bill, indent=1, ensure_ascii=False) + "\n", 0o644)
    write_file(folder / "notes.md", text, 0o644)
    if with_images:
        _images(release, folder)
    write_file(folder / SUMS, sums(folder), 0o644)


def _archive(release: Release, folder: Path) -> None:
    """The sources as git has them, with the commit's time. A person's own settings of git change nothing."""
    fixed = ("-c", "tar.umask=0022", "-c", "tar.tar.gz.command=git archive gzip")
    file = folder / f"{release.name}.tar.gz"
    _git(*fixed, "archive", f"--prefix={release.name}/", "--format=tar.gz", f"--output={file}", release.commit)


def _images(release: Release, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=f"{PRODUCT}-") as scratch:
        subprocess.run(["tar", "-xzf", str(folder / f"{release.name}.tar.gz"), "-C", scratch], check=True)
        sources = Path(scratch) / release.name
        images.build(sources, folder, release.version, release.commit, release.seconds)


def sums(folder: Path) -> str:
    """The lines of SHA256SUMS: of every file in the folder, by name."""
    lines = []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}\n")
    return "".join(lines)


def sign(folder: Path, key: str) -> None:
    """Sign the sums: SHA256SUMS.sig by an SSH key, SHA256SUMS.sigstore.json by cosign. Raises Unready."""
    by_ssh = ("ssh-keygen", "-Y", "sign", "-f", str(Path(key).expanduser().absolute()), "-n", NAMESPACE, SUMS)
    by_cosign = ("cosign", "sign-blob", "--yes", "--bundle", f"{SUMS}.sigstore.json", SUMS)
    command = by_cosign if key == COSIGN else by_ssh
    try:
        done = subprocess.run(command, cwd=folder, check=False)
    except OSError as error:
        raise Unready(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise Unready(f"{command[0]} did not sign {SUMS}")


def release(key: str, into: Path, *, images_needed: bool) -> Path:
    """Build and sign the release. Returns its folder, which replaces an older one of this version. Raises Unready."""
    made = checked_out()
    text = notes.cut((REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8"), made.version)
    if missing := images.why_not():
        if images_needed:
            raise Unready(f"no images: {missing}")
        print(f"release: WITHOUT IMAGES: {missing}", file=sys.stderr)
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{made.name}.", dir=into) as draft:
        folder = Path(draft) / made.name
        folder.mkdir(mode=0o755)
        build(made, text, folder, with_images=missing is None)
        sign(folder, key)
        place = into / made.name
        if place.exists():
            place.rename(Path(draft) / "before")
        folder.rename(place)
    return place


def main(given: Sequence[str]) -> int:
    """Make the release. Returns 0, or 2 when something is not ready, which is printed."""
    parser = argparse.ArgumentParser(prog="make release", usage="make release SIGN=KEY [IMAGES=needed]")
    parser.add_argument("--sign", required=True, metavar="KEY")
    parser.add_argument("--images", choices=["needed", ""], default="")
    parser.add_argument("--into", type=Path, default=REPOSITORY / "dist")
    asked = parser.parse_args(given)
    try:
        place = release(asked.sign, asked.into, images_needed=asked.images == "needed")
    except (Unready, OSError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
