"""A release, made by its command in a repository of its own, and verified by the lines of docs/deploying.md."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from deploy.parts.layout import REPOSITORY
from deploy.release import images, notes, sbom
from deploy.release.__main__ import DATABASES, sign
from deploy.release.notes import Unready
from shared.version import version
from tests.lab.campaigns.guides import block
from tests.rules.test_locks_in_step import locked

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="a release is made from a git repository")

NAME: Final = f"signage-fleet-{version()}"
OF_A_MACHINE: Final = (".git", ".venv", ".local", "node_modules", "dist", "__pycache__", ".*_cache", ".hypothesis")
ALONE: Final = {"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
PERSON: Final[dict[str, Any]] = {
    **{f"GIT_{who}_{what}": "release@signage.test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_AUTHOR_DATE": "2026-03-10T12:00:00Z",
    "GIT_COMMITTER_DATE": "2026-03-10T12:00:00Z",
}
AWAY: Final = "git-away"
UNSIGNED: Final = {f"{NAME}.tar.gz", f"{NAME}.cdx.json", f"signage-display_{version()}_all.deb", "notes.md"}


def run(folder: Path, *command: str, code: int = 0, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, with no settings of this machine's people. It must end with this code."""
    around = {"PATH": os.environ["PATH"], **ALONE, **environment}
    done = subprocess.run(command, cwd=folder, env=around, check=False, capture_output=True, text=True)
    assert done.returncode == code, f"{command}: {done.stdout}{done.stderr}"
    return done


def git(folder: Path, *words: str) -> str:
    return run(folder, "git", *words, **PERSON).stdout


def make(folder: Path, *more: str, code: int = 0, **environment: str) -> str:
    """Run the command there, without `make check`. Returns what it printed on standard error."""
    return run(folder, sys.executable, "-m", "deploy.release", "--checked", *more, code=code, **environment).stderr


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys of a maintainer and of a stranger."""
    folder = tmp_path_factory.mktemp("keys")
    for who in ("maintainer", "stranger"):
        run(folder, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", who)
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with this tree as a tagged commit, whose section of the changelog has a day."""
    folder = tmp_path_factory.mktemp("release") / "repository"
    shutil.copytree(REPOSITORY, folder, symlinks=True, ignore=shutil.ignore_patterns(*OF_A_MACHINE))
    changelog = folder / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if f"## [{version()}]" not in text:
        changelog.write_text(notes.dated(text, version(), date(2026, 3, 10)), encoding="utf-8")
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=All of it")
    git(folder, "tag", f"v{version()}")
    return folder


@pytest.fixture(scope="module")
def without_engine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with everything but docker."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("git", "gzip", "tar", "xz", "dpkg-deb", "ssh-keygen", "sh", "rm", "uname", "sha256sum"):
        (folder / name).symlink_to(shutil.which(name) or "/nonexistent")
    return str(folder)


@pytest.fixture(scope="module")
def released(repository: Path, keys: Path, without_engine: str) -> Path:
    """The folder of a release without images. Never change it: `copy` gives another one."""
    said = make(repository, "--sign", str(keys / "maintainer"), PATH=without_engine)
    assert "WITHOUT IMAGES: there is no program `docker`" in said
    return repository / "dist" / NAME


@pytest.fixture
def copy(released: Path, keys: Path, tmp_path: Path) -> Path:
    """The release in a folder of its own, with the maintainer's line in `signers`."""
    folder = tmp_path / "release"
    shutil.copytree(released, folder)
    known_as(folder, keys / "maintainer.pub")
    return folder


def known_as(folder: Path, key: Path) -> None:
    (folder / "signers").write_text(f"release {key.read_text(encoding='utf-8')}", encoding="utf-8")


@pytest.fixture(scope="module")
def clone(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone") / "clone"
    git(folder.parent, "clone", "--quiet", str(repository), str(folder))
    return folder


@pytest.fixture
def branch(clone: Path) -> Iterator[Path]:
    """A clone of the repository, to change; afterwards it is as it was."""
    before = git(clone, "rev-parse", "HEAD").strip()
    yield clone
    if (clone / AWAY).exists():
        (clone / AWAY).rename(clone / ".git")
    git(clone, "reset", "--quiet", "--hard", before)
    git(clone, "clean", "--quiet", "-dffx", "--exclude=__pycache__")
    git(clone, "tag", "--force", f"v{version()}")


@pytest.fixture(scope="module")
def again(clone: Path, keys: Path, without_engine: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release of the same commit, made on another machine over an older one.

    That machine has another clock's zone, another umask, and another taste in archives.
    """
    place = tmp_path_factory.mktemp("again") / "dist" / NAME
    place.mkdir(parents=True)
    (place / "stale").touch()
    taste = tmp_path_factory.mktemp("taste") / "gitconfig"
    taste.write_text('[tar]\numask = 0077\n[tar "tar.gz"]\ncommand = cat\n[core]\nabbrev = 40\n', encoding="utf-8")
    command = f"{sys.executable} -m deploy.release --checked --sign {keys / 'maintainer'} --into {place.parent}"
    line = f"umask 077; exec {command}"
    run(clone, "sh", "-c", line, PATH=without_engine, TZ="Asia/Tokyo", PYTHONHASHSEED="7", GIT_CONFIG_GLOBAL=str(taste))
    return place


# --- what it holds ---


def test_two_runs_of_one_commit_in_two_folders_give_the_same_bytes(released: Path, again: Path) -> None:
    first, second = (
        {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
        for folder in (released, again)
    )
    assert set(first) == {*UNSIGNED, "SHA256SUMS", "SHA256SUMS.sig"}
    assert first == second


def test_a_second_run_replaces_the_first(again: Path) -> None:
    assert not (again / "stale").exists()
    assert [path.name for path in again.parent.iterdir()] == [NAME]


def test_the_archive_holds_every_file_of_the_commit_below_one_folder(repository: Path, released: Path) -> None:
    with tarfile.open(released / f"{NAME}.tar.gz") as archive:
        members = archive.getmembers()

    files = {member.name for member in members if not member.isdir()}
    assert files == {f"{NAME}/{name}" for name in git(repository, "ls-files", "-z").split("\0") if name}
    assert {member.mtime for member in members} == {1773144000}  # the commit's time


def test_the_display_package_has_the_products_version(released: Path) -> None:
    package = released / f"signage-display_{version()}_all.deb"

    assert run(released, "dpkg-deb", "--field", package.name, "Version").stdout.strip() == version()


def test_the_sums_are_of_every_file(released: Path) -> None:
    lines = (released / "SHA256SUMS").read_text(encoding="utf-8").splitlines()

    assert {line.partition("  ")[2] for line in lines} == UNSIGNED
    for line in lines:
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((released / name).read_bytes()).hexdigest() == digest


# --- what is not ready ---


def undated(folder: Path) -> None:
    text = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    text = re.sub(rf"(## \[{re.escape(version())}\]).*", r"\1", text)
    (folder / "CHANGELOG.md").write_text(text, encoding="utf-8")
    tagged(folder)


def raised(folder: Path) -> None:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    changed = text.replace(f'version = "{version()}"', 'version = "99.1.0"')
    (folder / "pyproject.toml").write_text(changed, encoding="utf-8")
    git(folder, "commit", "--quiet", "--all", "--message=Raise the version")
    git(folder, "tag", "v99.1.0")


def tagged(folder: Path) -> None:
    git(folder, "commit", "--quiet", "--all", "--message=Another state")
    git(folder, "tag", "--force", f"v{version()}")


def later(folder: Path) -> None:
    git(folder, "commit", "--quiet", "--allow-empty", "--message=One more")


UNREADY: Final[dict[str, tuple[Callable[[Path], Any], str]]] = {
    "changed": (lambda folder: (folder / "NOTICE").write_text("x"), "the tree is not as committed: NOTICE"),
    "untracked": (lambda folder: (folder / "bridge/new.py").touch(), "the tree is not as committed: bridge/new.py"),
    "no tag": (lambda folder: git(folder, "tag", "--delete", f"v{version()}"), f"this commit has no tag v{version()}"),
    "tag elsewhere": (later, f"v{version()} is the tag of another commit: {version()} was released; make version"),
    "no section": (raised, "CHANGELOG.md has no section of 99.1.0"),
    "no day": (undated, f"CHANGELOG.md: {version()} needs its day, not ``"),
    "no repository": (lambda folder: (folder / ".git").rename(folder / AWAY), "git log: fatal: not a git repository"),
}


@pytest.mark.parametrize("note", UNREADY)
def test_what_is_no_released_commit_is_refused_in_words(branch: Path, keys: Path, note: str) -> None:
    change, words = UNREADY[note]
    change(branch)

    said = make(branch, "--sign", str(keys / "maintainer"), code=2)

    assert said.startswith(f"release: {words}")
    assert not (branch / "dist").exists()


def test_a_red_check_makes_no_tag_and_no_release(branch: Path, keys: Path, tmp_path: Path) -> None:
    """With a program in make's place that is red."""
    kept(branch)
    git(branch, "tag", "--delete", f"v{version()}")
    (tmp_path / "make").write_text('#!/bin/sh\ntest "$1" = check || exit 0\nexit 2\n', encoding="utf-8")
    (tmp_path / "make").chmod(0o755)
    command = (sys.executable, "-m", "deploy.release", "--tag", "--sign", str(keys / "maintainer"))

    said = run(branch, *command, code=2, PATH=f"{tmp_path}:{os.environ['PATH']}").stderr

    assert said.endswith("release: `make check` is red\n")
    assert git(branch, "tag", "--list", f"v{version()}") == ""
    assert not (branch / "dist").exists()


def test_a_version_without_a_database_to_upgrade_from_is_not_tagged(branch: Path, keys: Path) -> None:
    kept(branch, there=False)
    git(branch, "tag", "--delete", f"v{version()}")

    said = make(branch, "--tag", "--sign", str(keys / "maintainer"), code=2)

    assert said == f"release: there is no database to upgrade from {version()}: make version VERSION={version()}\n"


def test_the_tag_is_signed_and_has_the_notes(branch: Path, keys: Path, without_engine: str) -> None:
    kept(branch)
    git(branch, "tag", "--delete", f"v{version()}")

    make(branch, "--tag", "--sign", str(keys / "maintainer"), PATH=without_engine, **PERSON)

    (branch / "signers").write_text(f"* {(keys / 'maintainer.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    believed = ("-c", "gpg.ssh.allowedSignersFile=signers", "tag", "--verify", f"v{version()}")
    run(branch, "git", *believed)
    told = git(branch, "tag", "--list", "--format=%(contents)", f"v{version()}")
    assert (branch / "dist" / NAME / "notes.md").read_text(encoding="utf-8").strip() in told
    assert git(branch, "rev-parse", f"v{version()}^{{commit}}") == git(branch, "rev-parse", "HEAD")


def kept(folder: Path, *, there: bool = True) -> None:
    """Commit a tree with a database of this version, or without."""
    file = folder / DATABASES / f"{version()}.sql"
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    if there:
        file.touch()
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=Another state")
    git(folder, "tag", "--force", f"v{version()}")


def test_a_key_that_does_not_sign_leaves_nothing(branch: Path, without_engine: str) -> None:
    said = make(branch, "--sign", "no-such-key", code=2, PATH=without_engine)

    assert "release: ssh-keygen did not sign SHA256SUMS" in said
    assert list((branch / "dist").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(branch: Path, keys: Path, without_engine: str, tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.touch()

    said = make(branch, "--sign", str(keys / "maintainer"), "--into", str(place), code=2, PATH=without_engine)

    assert said.splitlines()[-1] == f"release: [Errno 17] File exists: '{place}'"


def test_nobody_makes_a_release_without_a_signature(branch: Path) -> None:
    said = make(branch, code=2)

    assert "make release SIGN=KEY" in said


def test_cosign_signs_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a program in cosign's place that writes down its words; the real one asks a service on the internet."""
    (tmp_path / "cosign").write_text('#!/bin/sh\necho "$@" > "$4"\n', encoding="utf-8")
    (tmp_path / "cosign").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    place = tmp_path / NAME
    place.mkdir()

    sign(place, "cosign")

    signed = "sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS\n"
    assert (place / "SHA256SUMS.sigstore.json").read_text(encoding="utf-8") == signed
    assert [path.name for path in place.iterdir()] == ["SHA256SUMS.sigstore.json"]


def test_without_cosign_its_absence_is_told(
    tmp_path: Path, without_engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", without_engine)

    with pytest.raises(Unready, match=r"^cosign: No such file or directory$"):
        sign(tmp_path, "cosign")


# --- verified by the guide's lines ---


def verified(folder: Path, code: int = 0) -> str:
    """Run the guide's line in a release's folder. Returns what it printed."""
    done = run(folder, "sh", "-c", f"{block('deploying.md', 'ssh-keygen -Y verify').strip()} 2>&1", code=code)
    return done.stdout


def test_the_guides_line_verifies_a_release(copy: Path) -> None:
    said = verified(copy)

    assert 'Good "signage-fleet" signature for release with ED25519 key' in said
    assert {line.partition(": ")[0] for line in said.splitlines() if line.endswith(": OK")} == UNSIGNED


@pytest.mark.parametrize("name", sorted(UNSIGNED))
def test_a_changed_byte_is_refused_in_words(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)

    assert f"{name}: FAILED\n" in verified(copy, code=1)


def test_a_missing_file_is_refused_in_words(copy: Path) -> None:
    (copy / "notes.md").unlink()

    assert "notes.md: FAILED open or read\n" in verified(copy, code=1)


def test_a_changed_sum_is_refused_in_words(copy: Path) -> None:
    """Whoever changes a file and its sum has no key to sign the sums."""
    (copy / "notes.md").write_text("other notes\n", encoding="utf-8")
    text = (copy / "SHA256SUMS").read_text(encoding="utf-8")
    digest = hashlib.sha256(b"other notes\n").hexdigest()
    (copy / "SHA256SUMS").write_text(re.sub(r"\w+(?=  notes\.md)", digest, text), encoding="utf-8")

    said = verified(copy, code=255)
    assert "Could not verify signature" in said
    assert "notes.md: OK" not in said


def test_another_persons_signature_is_refused_in_words(copy: Path, keys: Path) -> None:
    (copy / "SHA256SUMS.sig").unlink()
    run(copy, "ssh-keygen", "-q", "-Y", "sign", "-f", str(keys / "stranger"), "-n", "signage-fleet", "SHA256SUMS")

    assert "Could not verify signature" in verified(copy, code=255)


def test_a_signature_for_another_purpose_is_refused_in_words(copy: Path, keys: Path) -> None:
    (copy / "SHA256SUMS.sig").unlink()
    run(copy, "ssh-keygen", "-q", "-Y", "sign", "-f", str(keys / "maintainer"), "-n", "git", "SHA256SUMS")

    assert "Could not verify signature" in verified(copy, code=255)


def test_a_release_without_its_signature_is_refused_in_words(copy: Path) -> None:
    (copy / "SHA256SUMS.sig").unlink()

    assert "Could not verify signature" in verified(copy, code=255)


# --- images ---


INSPECTED: Final = "Name:   maker\nDriver: docker-container\n\nNodes:\nName:      maker0\nPlatforms: {platforms}\n"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Puts a program in docker's place that prints this text and ends with this code."""
    folder = tmp_path / "engine"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")

    def answer(text: str, code: int) -> None:
        (folder / "docker").write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n", encoding="utf-8")
        (folder / "docker").chmod(0o755)

    return answer


ENGINES: Final = [
    (INSPECTED.format(platforms="linux/amd64*, linux/amd64/v2, linux/arm64"), 0, None),
    (INSPECTED.format(platforms="linux/amd64, linux/386"), 0, "the builder does not know linux/arm64;"),
    (INSPECTED.replace("docker-container", "docker"), 0, "the builder's driver `docker` writes no archive;"),
    ("Cannot connect to the Docker daemon", 1, "`docker buildx inspect --bootstrap` failed: Cannot connect"),
]


@pytest.mark.parametrize(("text", "code", "words"), ENGINES, ids=[str(words)[:40] for *_, words in ENGINES])
def test_an_engine_that_cannot_build_for_both_processors_is_told(
    engine: Callable[[str, int], None], text: str, code: int, words: str | None
) -> None:
    engine(text, code)

    why = images.why_not()
    assert why is None if words is None else (why or "").startswith(words)


def test_needed_images_are_not_left_out(branch: Path, keys: Path, without_engine: str) -> None:
    said = make(branch, "--sign", str(keys / "maintainer"), "--images", "needed", code=2, PATH=without_engine)

    assert said == "release: no images: there is no program `docker`\n"
    assert not (branch / "dist").exists()


BUILDS: Final = """#!/bin/sh
[ "$2" = inspect ] && { printf 'Driver: remote\\nPlatforms: linux/amd64, linux/arm64\\n'; exit; }
for word; do
  case "$word" in *dest=*) file=${word#*dest=}; printf '%s\\n' "$@" > "${file%%,*}";; */.*.json) told=$word;; esac
  [ "$last" = --target ] && stage=$word
  last=$word
done
test -f "$last/deploy/docker/Dockerfile" && test ! -e "$last/.git" || exit 1
printf '{"containerimage.digest": "sha256:of %s"}' "$stage" > "$told"
printf '%s\\n' "$@" >> "$(dirname "$told")/../../words"
"""


@pytest.fixture
def builder(tmp_path: Path) -> str:
    """A PATH with a program in docker's place that writes its words into the archive that it is asked for."""
    (tmp_path / "docker").write_text(BUILDS, encoding="utf-8")
    (tmp_path / "docker").chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def test_both_images_are_built_for_both_processors_from_the_archive(branch: Path, keys: Path, builder: str) -> None:
    make(branch, "--sign", str(keys / "maintainer"), "--images", "needed", PATH=builder)

    place = branch / "dist" / NAME
    for stage in ("app", "box"):
        words = (place / f"{NAME.replace('fleet', f'fleet-{stage}')}.oci.tar").read_text(encoding="utf-8").splitlines()
        assert words[words.index("--platform") + 1] == "linux/amd64,linux/arm64"
        assert words[words.index("--target") + 1] == stage
        assert f"org.opencontainers.image.version={version()}" in words
        assert f"org.opencontainers.image.revision={git(branch, 'rev-parse', 'HEAD').strip()}" in words
        assert "SOURCE_DATE_EPOCH=1773144000" in words
        assert not [word for word in words if "push=true" in word]
        assert f"signage-fleet-{stage}-{version()}.oci.tar" in (place / "SHA256SUMS").read_text(encoding="utf-8")
    assert {path.name for path in place.iterdir()} == {
        *UNSIGNED,
        *(images.archive(stage, version()) for stage in ("app", "box")),
        *("SHA256SUMS", "SHA256SUMS.sig"),
    }


def test_images_are_pushed_where_the_one_place_says_with_the_trial(branch: Path, keys: Path, builder: str) -> None:
    stated = branch / "pyproject.toml"
    text = stated.read_text(encoding="utf-8")
    registry = "ghcr.test/somebody/signage-fleet"
    stated.write_text(text.replace(f'images = "{images.REGISTRY}"', f'images = "{registry}"'), encoding="utf-8")
    tagged(branch)

    make(branch, "--sign", str(keys / "maintainer"), "--images", "push", PATH=builder)

    place = branch / "dist" / NAME
    pushed = [word for word in (branch / "dist" / "words").read_text(encoding="utf-8").splitlines() if "push=" in word]
    assert [word.split('"')[1] for word in pushed] == [
        f"name={registry}/{stage}:{version()},{registry}/{stage}:latest" for stage in ("app", "box", "trial")
    ]
    assert (place / "images.txt").read_text(encoding="utf-8").splitlines() == [
        f"{registry}/{stage}:{version()}@sha256:of {stage}" for stage in ("app", "box", "trial")
    ]
    assert "  images.txt\n" in (place / "SHA256SUMS").read_text(encoding="utf-8")


def test_nothing_is_pushed_while_no_registry_is_named(branch: Path, keys: Path, builder: str) -> None:
    said = make(branch, "--sign", str(keys / "maintainer"), "--images", "push", code=2, PATH=builder)

    assert said == f"release: no images: pyproject.toml names no registry yet, but {images.REGISTRY}\n"


def test_people_are_told_of_no_image_that_has_another_name() -> None:
    """The README, the guides and compose.yaml name what `images` in pyproject.toml says."""
    files = [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md"), REPOSITORY / "deploy/docker/compose.yaml"]
    named = re.compile(r"(\w[\w.-]+\.[a-z]+(?:/[\w.-]+)+)/(?:app|box|trial)\b(?!/)")
    told = {name for file in files for name in named.findall(file.read_text(encoding="utf-8")) if "docs" not in name}

    assert told - {"docker.pkg.dev"} == {images.REGISTRY}


# --- notes ---


def test_the_notes_are_the_section_of_the_version() -> None:
    changelog = "# Changes\n\n## [0.3.0] - 2026-03-10\n\n- new\n\n## [0.2.0] - 2026-01-01\n\n- old\n"

    assert notes.cut(changelog, "0.3.0") == "- new\n"
    assert notes.cut(changelog, "0.2.0") == "- old\n"


def test_a_section_without_words_is_no_notes() -> None:
    with pytest.raises(Unready, match=r"0\.3\.0 is empty"):
        notes.cut("## [0.3.0] - 2026-03-10\n\n## [0.2.0] - 2026-01-01\n\n- old\n", "0.3.0")


# --- the bill of materials ---


@pytest.fixture(scope="module")
def bill(released: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((released / f"{NAME}.cdx.json").read_text(encoding="utf-8"))
    return found


def test_the_bill_is_what_cyclonedx_asks_for(released: Path) -> None:
    """Its own schema, which the validator brings."""
    text = (released / f"{NAME}.cdx.json").read_text(encoding="utf-8")

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.replace("SHA-256", "SHA-257")) is not None


def test_the_bill_has_every_package_of_the_lock_with_all_its_hashes(bill: dict[str, Any]) -> None:
    urls = [PackageURL.from_string(one["purl"]) for one in bill["components"]]
    named = [one for one in bill["components"] if one["purl"].startswith("pkg:pypi/")]
    lock = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")

    assert {url.name: url.version for url in urls if url.type == "pypi"} == locked("requirements")
    assert {digest["content"] for one in named for digest in one["hashes"]} == set(re.findall(r"[0-9a-f]{64}", lock))


def test_only_what_each_build_takes_anew_has_no_hash(released: Path, bill: dict[str, Any]) -> None:
    """The image that ours begin with, and Debian's packages: named, for security updates."""
    without = {one["name"] for one in bill["components"] if not one.get("hashes")}
    [agent] = [one for one in bill["components"] if one["name"] == "signage-display"]
    [package] = released.glob("signage-display_*.deb")

    assert without == {"python", "mosquitto", "nginx-light", "tini"}
    assert agent["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(package.read_bytes()).hexdigest()}]


def test_the_bill_has_what_the_notice_names(bill: dict[str, Any]) -> None:
    text = (REPOSITORY / "NOTICE").read_text(encoding="utf-8")
    named = set(re.findall(r"^  (\S+) (\S+) ", text, re.MULTILINE)) | set(
        re.findall(r"\((paho-mqtt|jeepney) (\S+)\)", text)
    )
    there = {
        ("/".join(filter(None, [one.get("group"), one["name"]])), one.get("version")) for one in bill["components"]
    }

    assert len(named) == 7
    assert named <= there


def test_the_bill_has_each_vendored_file_with_its_hash(bill: dict[str, Any]) -> None:
    told = {
        part["name"]: part["hashes"][0]["content"] for one in bill["components"] for part in one.get("components", ())
    }

    assert set(told) == {f"dashboard/vendor/{path.name}" for path in (REPOSITORY / "dashboard/vendor").glob("*.js")}
    for name, digest in told.items():
        assert hashlib.sha256((REPOSITORY / name).read_bytes()).hexdigest() == digest


def test_the_bill_has_what_the_images_add_to_their_debian(bill: dict[str, Any]) -> None:
    urls = [PackageURL.from_string(one["purl"]) for one in bill["components"]]

    assert {(url.name, url.qualifiers["distro"]) for url in urls if url.namespace == "debian"} == {
        (name, "bookworm") for name in ("mosquitto", "nginx-light", "tini")
    }
    assert [(url.name, url.version) for url in urls if url.type == "docker"] == [("python", "3.11-slim-bookworm")]


def test_the_bill_says_who_needs_whom(bill: dict[str, Any]) -> None:
    needs = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    references = [one["bom-ref"] for one in bill["components"]]
    direct = needs[bill["metadata"]["component"]["bom-ref"]]
    asked = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8")
    listed = {f"pkg:pypi/{name}@" for name in re.findall(r"^[a-z][\w-]*", asked, re.MULTILINE)}

    assert len(set(references)) == len(references)
    assert set(needs) == {*references, bill["metadata"]["component"]["bom-ref"]}
    assert {one for some in needs.values() for one in some} == set(references)  # nothing that nobody needs
    assert {one.partition("@")[0] + "@" for one in direct if one.startswith("pkg:pypi/")} == listed
    [agent] = [one for ref, one in needs.items() if "signage-display" in ref]
    assert agent == [one for one in references if one.startswith(("pkg:pypi/jeepney@", "pkg:pypi/paho-mqtt@"))]


def test_a_line_of_the_lock_that_cannot_be_read_stops_the_bill() -> None:
    with pytest.raises(Unready, match="no package with hashes: left-pad"):
        sbom.add_python(sbom.Bill("pkg:generic/x@1"), "left-pad==1.0\n")


def test_a_dockerfile_without_our_stage_stops_the_bill() -> None:
    with pytest.raises(Unready, match="no stage app"):
        sbom.debian_parts("FROM scratch AS other\n")
