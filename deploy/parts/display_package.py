"""`python -m deploy.parts.display_package FOLDER`: builds the agent's Debian package, its installer and their hashes.

The package contains the agent's modules, every module of this repository that they import, and the installed paho and
jeepney, whose hashes requirements.lock has checked. The same sources give the same bytes.
"""

import ast
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY, write_file
from shared.version import version

AGENT: Final = REPOSITORY / "displays" / "agent"
PARTS: Final = AGENT / "package"
OURS: Final = ("displays", "shared")
VENDORED: Final = {"paho": "paho-mqtt", "jeepney": "jeepney"}
"""The packages of others that it carries, and the distribution of each."""
LICENCES: Final = {"paho": "edl-v10", "jeepney": "LICENSE"}
LIBRARY: Final = "usr/lib/signage-display"
EPOCH: Final = "1767225600"  # the time of every file, 1 January 2026, so that the bytes are always the same
PLACES: Final = {
    "signage-display.service": "usr/lib/systemd/system/signage-display.service",
    "signage-display-helper.socket": "usr/lib/systemd/system/signage-display-helper.socket",
    "signage-display-helper.service": "usr/lib/systemd/system/signage-display-helper.service",
    "signage-display.sysusers": "usr/lib/sysusers.d/signage-display.conf",
    "command": "usr/bin/signage-display",
    "helper": f"{LIBRARY}/helper",
}
PROGRAMS: Final = {"command", "helper", "postinst", "prerm", "postrm"}


class Unbuildable(Exception):
    """The package cannot be built; the message says why."""


def modules() -> dict[str, Path]:
    """Each module of this repository that the agent needs, by its dotted name. Raises Unbuildable."""
    found: dict[str, Path] = {}
    waiting = [_name(path) for path in sorted(AGENT.glob("*.py"))]
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if name in found or path is None:
            continue
        found[name] = path
        for imported in _imports(path):
            waiting += _ours(imported)
    return dict(sorted(found.items()))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")


def _path(name: str) -> Path | None:
    """The file of a module of ours; None when the name is an object inside a module."""
    bare = REPOSITORY.joinpath(*name.split("."))
    return next((path for path in (bare.with_suffix(".py"), bare / "__init__.py") if path.is_file()), None)


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _ours(imported: str) -> Iterable[str]:
    """Our modules that an import needs, with the packages above them. Raises Unbuildable."""
    parts = imported.split(".")
    if parts[0] in OURS:
        return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    if parts[0] not in sys.stdlib_module_names and parts[0] not in VENDORED:
        raise Unbuildable(f"the agent imports {imported}: nothing on a display provides it")
    return []


def build(folder: Path, name: str = "signage-display.deb") -> None:
    """Write the package under that name, `install.sh` and `SHA256SUMS` into the folder. Raises Unbuildable."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="signage-display-") as scratch:
        tree, package = Path(scratch) / "tree", Path(scratch) / "package.deb"
        try:
            _lay_out(tree)
        except (OSError, PackageNotFoundError) as error:
            raise Unbuildable(f"a part is missing: {error}") from None
        _pack(tree, package)
        content = package.read_bytes()
    draft = folder / f".{name}.{os.getpid()}"
    draft.write_bytes(content)
    draft.chmod(0o644)
    draft.replace(folder / name)
    digest = hashlib.sha256(content).hexdigest()
    installer = (PARTS / "install.sh").read_text(encoding="utf-8").replace("@SHA256@", digest)
    write_file(folder / "install.sh", installer, 0o644)
    of_installer = hashlib.sha256(installer.encode()).hexdigest()
    write_file(folder / "SHA256SUMS", f"{of_installer}  install.sh\n{digest}  {name}\n", 0o644)


def _lay_out(tree: Path) -> None:
    for path in modules().values():
        _put(tree / LIBRARY / path.relative_to(REPOSITORY), path.read_bytes(), program=False)
    _vendor(tree / LIBRARY)
    for part, place in PLACES.items():
        _put(tree / place, (PARTS / part).read_bytes(), program=part in PROGRAMS)
    for script in ("postinst", "prerm", "postrm"):
        _put(tree / "DEBIAN" / script, (PARTS / script).read_bytes(), program=True)
    control = (PARTS / "control").read_text(encoding="utf-8").replace("@VERSION@", version())
    _put(tree / "DEBIAN" / "control", control.encode(), program=False)
    _put(tree / "usr/share/doc/signage-display/copyright", _copyright().encode(), program=False)


def _vendor(library: Path) -> None:
    """Copy the modules of others, without their tests and pip's files."""
    for name, source in VENDORED.items():
        wheel = distribution(source)
        for file in wheel.files or []:
            if file.parts[0] == name and file.suffix in {".py", ".typed"} and "tests" not in file.parts:
                _put(library / Path(*file.parts), Path(str(wheel.locate_file(file))).read_bytes(), program=False)


def _copyright() -> str:
    text = (PARTS / "copyright").read_text(encoding="utf-8")
    for name, source in VENDORED.items():
        wheel = distribution(source)
        licence = next((file for file in wheel.files or [] if file.name == LICENCES[name]), None)
        if licence is None:
            raise Unbuildable(f"the installed {name} has no licence text")
        text = text.replace(f"@{name}@", wheel.version)
        text = text.replace(f"@{name}'s licence@", Path(str(wheel.locate_file(licence))).read_text(encoding="utf-8"))
    return text


def _put(path: Path, content: bytes, *, program: bool) -> None:
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755 if program else 0o644)


def _pack(tree: Path, package: Path) -> None:
    for folder in [tree, *(path for path in tree.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)
    command = ("dpkg-deb", "--root-owner-group", "--uniform-compression", "-Zxz", "--build", str(tree), str(package))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    for path in [tree, *tree.rglob("*")]:
        os.utime(path, (int(EPOCH), int(EPOCH)))
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    except OSError as error:
        raise Unbuildable(f"dpkg-deb: {error.strerror}") from None
    if done.returncode != 0:
        raise Unbuildable(f"dpkg-deb: {done.stderr.strip()}")


def file_name() -> str:
    """The package's file, as Debian names it."""
    return f"signage-display_{version()}_all.deb"


def main(given: list[str]) -> int:
    """Build the package. Returns 0, or 2 after an error, which is printed."""
    if len(given) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    name = file_name()
    try:
        build(Path(given[0]), name)
    except Unbuildable as error:
        print(f"display-package: {error}", file=sys.stderr)
        return 2
    print(Path(given[0]) / name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
