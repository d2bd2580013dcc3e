"""Each extension is a folder that may be deleted."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from functions.scheduler_tick.steps import KERNEL as KERNELS_STEPS
from functions.scheduler_tick.steps import PARTS, STEPS

EXTENSIONS: Final = sorted(
    path.name for path in (REPOSITORY / "extensions").iterdir() if (path / "__init__.py").exists()
)
KERNEL: Final = ("bridge", "functions", "shared")
STARTS: Final = """
import importlib, os, pkgutil, sys
for package in sys.argv[1].split():
    importlib.import_module(package)
for folder in sys.argv[2:]:
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0, folder
    else:
        os.chdir(folder)
        break
else:
    sys.exit()
for top in ("bridge", "functions", "shared", "extensions"):
    for module in pkgutil.walk_packages(importlib.import_module(top).__path__, top + "."):
        if module.name.rpartition(".")[2] not in ("main", "__main__"):
            importlib.import_module(module.name)
from functions.api.openapi import document
from functions.api.routes import ALL
from functions.scheduler_tick.steps import LATE_STEPS, STEPS
print(len(document(ALL)["paths"]), len(STEPS), len(LATE_STEPS))
"""
THEIRS: Final = (
    "flask functions_framework google.cloud.tasks_v2 paho.mqtt.client pg8000 prometheus_client pypdfium2 "
    "sqlalchemy.dialects.postgresql"
)
"""Packages of others that take most of a start: they are imported once, before the folders part."""


def started(place: Path, kept: Mapping[str, list[str]]) -> dict[str, list[int]]:
    """How many paths and steps the functions have with these extensions alone, for each list of extensions."""
    for folder, names in kept.items():
        (place / folder / "extensions").mkdir(parents=True)
        for name in KERNEL:
            (place / folder / name).symlink_to(REPOSITORY / name)
        for name in ("__init__.py", *names):
            (place / folder / "extensions" / name).symlink_to(REPOSITORY / "extensions" / name)
    command = [sys.executable, "-B", "-c", STARTS, THEIRS, *(str(place / folder) for folder in kept)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {
        folder: [int(number) for number in line.split()]
        for folder, line in zip(kept, done.stdout.splitlines(), strict=True)
    }


def test_the_functions_start_without_any_extension_and_each_adds_to_them(tmp_path: Path) -> None:
    without = {name: [other for other in EXTENSIONS if other != name] for name in EXTENSIONS}

    numbers = started(tmp_path, {"alone": [], "whole": EXTENSIONS, **without})

    assert [more > less for more, less in zip(numbers["whole"], numbers["alone"], strict=True)] == [True, True, True]
    for name in EXTENSIONS:
        paths, steps, _ = numbers[name]
        assert paths > 50, name
        assert steps > 10, name


def test_each_step_of_an_extension_has_its_place_in_the_tick_and_its_own_name() -> None:
    assert {part.before for part in PARTS} <= {*KERNELS_STEPS}
    assert len(STEPS) == len(KERNELS_STEPS) + sum(len(part.steps) for part in PARTS)
    assert all(part.sends <= {*part.steps} for part in PARTS)
