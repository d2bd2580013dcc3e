"""`make release`: builds everything of a release from the commit that is checked out, and signs it.

    python -m deploy.release --sign KEY [--tag] [--images needed|push] [--checked] [--into FOLDER]

KEY is the file of a maintainer's SSH key (of its public half where an agent holds it), or the word `cosign`, which
signs without a key, as the person or workflow that runs it. Into FOLDER/signage-fleet-VERSION/ it writes

    signage-fleet-VERSION.tar.gz       the sources
    signage-display_VERSION_all.deb    the display agent
    signage-fleet-app-VERSION.oci.tar  the images for amd64 and arm64, and -box-; left out with a word where no
                                       engine with buildx can build them, unless they are `needed`
    images.txt                         with `push`: the names and digests of the images that are in the registry now
    signage-fleet-VERSION.cdx.json     the software bill of materials
    notes.md                           what the changelog says about it
    SHA256SUMS                         the sums of all these, and its signature

The folder appears when all is done. Exit code 2 with a sentence when something is not ready: a changed tree, a
changelog without the version, no tag of it, a red `make check` (`--checked`: it was green elsewhere). `--tag` makes the
tag when all of that is right: signed by an SSH key, or else a plain note.
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
DATABASES: Final = "tests/stores/releases"  # from which tests upgrade
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
    def tag(self) -> str:
        """Its tag in git."""
        return f"v{self.version}"

    @property
    def made(self) -> datetime:
        """The commit's time."""
        return datetime.fromtimestamp(self.seconds, UTC)


def checked_out(*, is_to_be_tagged: bool) -> Release:
    """The release that the working tree is.

    Raises:
        Unready: it is not the tagged commit of its version, unchanged; or it is to be tagged, and cannot be.
    """
    number = version()
    commit, seconds = _git("log", "-1", "--format=%H %ct").split()
    if changed := _git("status", "--porcelain").splitlines():
        raise Unready(f"the tree is not as committed: {', '.join(line[3:] for line in changed[:5])}")
    made = Release(number, commit, int(seconds))
    if made.tag not in _git("tag", "--points-at", "HEAD").split():
        if _git("tag", "--list", made.tag):
            raise Unready(f"{made.tag} is the tag of another commit: {number} was released; make version VERSION=…")
        if not is_to_be_tagged:
            raise Unready(f"this commit has no tag {made.tag}: make release TAG=1")
        if not (REPOSITORY / DATABASES / f"{number}.sql").exists():
            raise Unready(f"there is no database to upgrade from {number}: make version VERSION={number}")
    return made


def _git(*words: str) -> str:
    """What git prints, without the end of the last line. Raises Unready."""
    try:
        done = subprocess.run(["git", *words], cwd=REPOSITORY, check=False, capture_output=True, text=True)
    except OSError as error:
        raise Unready(f"git: {error.strerror}") from None
    if done.returncode != 0:
        raise Unready(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n")


def build(release: Release, text: str, folder: Path, *, with_images: bool, pushed: bool = False) -> None:
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
        _images(release, folder, pushed=pushed)
    write_file(folder / SUMS, sums(folder), 0o644)


def _archive(release: Release, folder: Path) -> None:
    """The sources as git has them, with the commit's time. A person's own settings of git change nothing."""
    fixed = ("-c", "tar.umask=0022", "-c", "tar.tar.gz.command=git archive gzip")
    file = folder / f"{release.name}.tar.gz"
    _git(*fixed, "archive", f"--prefix={release.name}/", "--format=tar.gz", f"--output={file}", release.commit)


def _images(release: Release, folder: Path, *, pushed: bool) -> None:
    with tempfile.TemporaryDirectory(prefix=f"{PRODUCT}-") as scratch:
        subprocess.run(["tar", "-xzf", str(folder / f"{release.name}.tar.gz"), "-C", scratch], check=True)
        sources = Path(scratch) / release.name
        images.build(sources, folder, release.version, release.commit, release.seconds, pushed=pushed)


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


def check() -> None:
    """Run `make check`. Raises Unready when it is red."""
    if subprocess.run(["make", "check"], cwd=REPOSITORY, check=False).returncode != 0:
        raise Unready("`make check` is red")


def tag(release: Release, text: str, key: str) -> None:
    """Tag the commit with its notes, signed by an SSH key. Raises Unready."""
    signed = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={Path(key).expanduser().absolute()}")
    with_key = () if key == COSIGN else signed
    message = f"{PRODUCT} {release.version}\n\n{text}"
    how = "--annotate" if key == COSIGN else "--sign"
    _git(*with_key, "tag", how, "--cleanup=verbatim", f"--message={message}", release.tag, release.commit)


def release(asked: argparse.Namespace) -> Path:
    """Build and sign the release. Returns its folder, which replaces an older one of this version. Raises Unready."""
    made = checked_out(is_to_be_tagged=asked.tag)
    text = notes.cut((REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8"), made.version)
    if missing := images.why_not(pushed=asked.images == "push"):
        if asked.images:
            raise Unready(f"no images: {missing}")
        print(f"release: WITHOUT IMAGES: {missing}", file=sys.stderr)
    if not asked.checked:
        check()
    if asked.tag and made.tag not in _git("tag", "--points-at", "HEAD").split():
        tag(made, text, asked.sign)
    into: Path = asked.into
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{made.name}.", dir=into) as draft:
        folder = Path(draft) / made.name
        folder.mkdir(mode=0o755)
        build(made, text, folder, with_images=missing is None, pushed=asked.images == "push")
        sign(folder, asked.sign)
        place = into / made.name
        if place.exists():
            place.rename(Path(draft) / "before")
        folder.rename(place)
    return place


def main(given: Sequence[str]) -> int:
    """Make the release. Returns 0, or 2 when something is not ready, which is printed."""
    parser = argparse.ArgumentParser(prog="make release", usage="make release SIGN=KEY [TAG=1] [IMAGES=needed|push]")
    parser.add_argument("--sign", required=True, metavar="KEY")
    parser.add_argument("--tag", action="store_true")
    parser.add_argument("--images", choices=["needed", "push", ""], default="")
    parser.add_argument("--checked", action="store_true")
    parser.add_argument("--into", type=Path, default=REPOSITORY / "dist")
    try:
        place = release(parser.parse_args(given))
    except (Unready, OSError) as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    print(place)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
