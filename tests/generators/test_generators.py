"""docs/openapi.json is read whole by the generators of clients that people use: each operation becomes a function.

`make generators` gets them from their registries, in the versions below.
"""

import json
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

import pytest

from deploy.parts.layout import REPOSITORY

DOCUMENT: Final = REPOSITORY / "docs" / "openapi.json"
PYTHON: Final = "openapi-python-client==0.29.1"
TYPESCRIPT: Final = ("openapi-typescript@7.13.0", "typescript@5.9.3")
GO: Final = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
JAVA: Final = "org.openapitools:openapi-generator-cli:7.14.0"
METHODS: Final = ("get", "put", "post", "patch", "delete", "head")
OPERATIONS: Final = [
    operation["operationId"]
    for path in json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"].values()
    for method, operation in path.items()
    if method in METHODS
]


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"this machine has no {' and no '.join(missing)}")


def run(folder: Path, *command: str | Path) -> str:
    """Run a program that must succeed. Returns what it printed."""
    done = subprocess.run(command, cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout[-5000:]}"
    return done.stdout


def plain(name: str) -> str:
    """A name as each language's own style has it: `client_logs`, `clientLogs` and `ClientLogs` are the same."""
    return name.replace("_", "").lower()


def test_a_client_in_python_has_each_operation_without_a_warning(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(tmp_path, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYTHON)
    config = Path(__file__).with_name("openapi_python_client.yml")

    made = ("--meta", "none", "--output-path", "signage", "--config", config, "--fail-on-warning")
    run(tmp_path, python.with_name("openapi-python-client"), "generate", "--path", DOCUMENT, *made)

    run(tmp_path, sys.executable, "-m", "compileall", "-q", "signage")
    functions = {plain(path.stem) for path in (tmp_path / "signage" / "api").rglob("*.py")}
    assert {plain(name) for name in OPERATIONS} - functions == set()


@needs("npm", "npx")
def test_types_in_typescript_have_each_operation(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}", encoding="utf-8")
    run(tmp_path, "npm", "install", "--silent", "--no-audit", "--no-fund", *TYPESCRIPT)

    run(tmp_path, "npx", "openapi-typescript", DOCUMENT, "--output", "signage.d.ts")

    run(tmp_path, "npx", "tsc", "--noEmit", "--strict", "signage.d.ts")
    text = (tmp_path / "signage.d.ts").read_text(encoding="utf-8")
    assert {name for name in OPERATIONS if f'operations["{name}"]' not in text} == set()


@needs("go")
def test_a_client_in_go_compiles_and_has_each_operation(tmp_path: Path) -> None:
    (tmp_path / "signage").mkdir()
    run(tmp_path, "go", "mod", "init", "signage.test")

    made = ("-generate", "types,client", "-package", "signage", "-o", "signage/signage.go")
    run(tmp_path, "go", "run", GO, *made, DOCUMENT)

    run(tmp_path, "go", "mod", "tidy")
    run(tmp_path, "go", "vet", "./...")
    text = (tmp_path / "signage" / "signage.go").read_text(encoding="utf-8")
    found = re.findall(r"^func \(c \*Client\) (\w+)\(", text, re.MULTILINE)
    methods = {plain(name.removesuffix("WithBody")) for name in found}
    assert {plain(name) for name in OPERATIONS} - methods == set()


@needs("java", "mvn")
def test_a_client_in_java_compiles_and_has_each_operation(tmp_path: Path) -> None:
    """By Maven, which also brings what the client needs."""
    store = f"-Dmaven.repo.local={tmp_path / 'maven'}"
    run(tmp_path, "mvn", "-q", store, "dependency:get", f"-Dartifact={JAVA}", "-Dtransitive=false")
    [jar] = (tmp_path / "maven").rglob("openapi-generator-cli-*.jar")

    run(tmp_path, "java", "-jar", jar, "generate", "-g", "java", "-i", DOCUMENT, "-o", "signage")

    run(tmp_path / "signage", "mvn", "-q", store, "-DskipTests", "compile")
    sources = (path.read_text(encoding="utf-8") for path in (tmp_path / "signage/src/main").rglob("*Api.java"))
    methods = {plain(name) for text in sources for name in re.findall(r"^  public \S.* (\w+)\(", text, re.MULTILINE)}
    assert {plain(name) for name in OPERATIONS} - methods == set()
