# ruff: noqa: INP001 - a script among browser modules, no package
"""Fetch the dashboard's libraries from npm, as plain files that a browser loads without a build.

The versions stand in `dashboard/package.json`; this script asks npm for exactly those, takes one
module out of each package, rewrites its bare imports ("preact") to relative ones ("./preact.js",
because without an import map the page's policy needs no exception) and drops the pointer to a source
map that is not shipped. `VENDOR.json` then states for each file the version, the licence, the SHA-256
of the module as published and of the file as written; `tests/rules/test_dashboard_vendor.py` holds
them to it.

    python dashboard/vendor/refresh.py
"""

import hashlib
import io
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGES = HERE.parent / "package.json"

# file here -> (package, module inside it); the order is that of VENDOR.json
MODULES = {
    "preact.js": ("preact", "dist/preact.mjs"),
    "hooks.js": ("preact", "hooks/dist/hooks.mjs"),
    "signals-core.js": ("@preact/signals-core", "dist/signals-core.mjs"),
    "signals.js": ("@preact/signals", "dist/signals.mjs"),
    "htm.js": ("htm", "dist/htm.mjs"),
    "qr.js": ("lean-qr", "index.mjs"),
}
# bare import -> file here
IMPORTS = {
    "preact": "./preact.js",
    "preact/hooks": "./hooks.js",
    "@preact/signals-core": "./signals-core.js",
    "@preact/signals": "./signals.js",
    "htm": "./htm.js",
}
# Imports of the published modules: minified `from"x"`, and `import"x"` for effect only.
BARE_IMPORT = re.compile(r"\b(from|import)\s*([\"'])([^\"'./][^\"']*)\2")
SOURCE_MAP = re.compile(r"\n?//# sourceMappingURL=\S*\s*$")


def sha256(content: bytes) -> str:
    """Hex digest of the bytes."""
    return hashlib.sha256(content).hexdigest()


def rewrite(source: str) -> str:
    """The module with relative imports and without its source map; KeyError names an unknown import."""

    def relative(match: re.Match[str]) -> str:
        return f"{match[1]} {match[2]}{IMPORTS[match[3]]}{match[2]}"

    return SOURCE_MAP.sub("", BARE_IMPORT.sub(relative, source)).rstrip("\n") + "\n"


def fetch(package: str, version: str) -> tuple[dict[str, bytes], str]:
    """The package's files by path, and the integrity string (SHA-512) npm states and has verified."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["npm", "pack", "--json", f"{package}@{version}"],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        answer = json.loads(done.stdout)
        packed = next(iter(answer.values())) if isinstance(answer, dict) else answer[0]
        content = (Path(folder) / packed["filename"]).read_bytes()
    return unpack(content), packed["integrity"]


def unpack(tarball: bytes) -> dict[str, bytes]:
    """Regular files of an npm tarball, by their path below `package/`."""
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(tarball), mode="r:gz") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is not None:
                files[member.name.partition("/")[2]] = stream.read()
    return files


def vendor(name: str, versions: dict[str, str]) -> dict[str, Any]:
    """Write one module and its licence; its entry for VENDOR.json."""
    package, module = MODULES[name]
    files, integrity = fetch(package, versions[package])
    written = rewrite(files[module].decode()).encode()
    (HERE / name).write_bytes(written)
    licence_file = f"licences/{package.replace('/', '-').lstrip('@')}.txt"
    (HERE / "licences").mkdir(exist_ok=True)
    (HERE / licence_file).write_bytes(files["LICENSE"])
    return {
        "package": package,
        "version": versions[package],
        "licence": json.loads(files["package.json"])["license"],
        "licence_file": licence_file,
        "module": module,
        "package_integrity": integrity,
        "published_sha256": sha256(files[module]),
        "sha256": sha256(written),
    }


def main() -> None:
    """Refresh every module and write VENDOR.json."""
    versions = json.loads(PACKAGES.read_text())["devDependencies"]
    entries = {name: vendor(name, versions) for name in MODULES}
    (HERE / "VENDOR.json").write_text(json.dumps(entries, indent=2) + "\n")
    for name, entry in entries.items():
        print(f"{name}: {entry['package']} {entry['version']} {entry['sha256'][:12]}")  # noqa: T201


if __name__ == "__main__":
    main()
