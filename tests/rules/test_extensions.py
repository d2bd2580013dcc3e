"""Each extension is a folder that may be deleted."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from deploy.parts.layout import REPOSITORY
from functions.scheduler_tick.steps import KERNEL as KERNELS_STEPS
from functions.scheduler_tick.steps import PARTS, STEPS

EXTENSIONS: Final = sorted(
    path.name for path in (REPOSITORY / "extensions").iterdir() if (path / "__init__.py").exists()
)
KERNEL: Final = ("bridge", "functions", "shared")
STARTS: Final = """
import importlib, pkgutil
for top in ("bridge", "functions", "shared", "extensions"):
    for module in pkgutil.walk_packages(importlib.import_module(top).__path__, top + "."):
        if module.name.rpartition(".")[2] not in ("main", "__main__"):
            importlib.import_module(module.name)
from functions.api.openapi import document
from functions.api.routes import ALL
from functions.scheduler_tick.steps import LATE_STEPS, STEPS
print(len(document(ALL)["paths"]), len(STEPS), len(LATE_STEPS))
"""


def started(folder: Path, kept: list[str]) -> list[int]:
    """How many paths and steps the functions have with these extensions alone."""
    (folder / "extensions").mkdir()
    for name in KERNEL:
        (folder / name).symlink_to(REPOSITORY / name)
    for name in ("__init__.py", *kept):
        (folder / "extensions" / name).symlink_to(REPOSITORY / "extensions" / name)
    done = subprocess.run([sys.executable, "-B", "-c", STARTS], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


@pytest.mark.parametrize("gone", EXTENSIONS)
def test_the_functions_start_without_an_extension(gone: str, tmp_path: Path) -> None:
    paths, steps, _ = started(tmp_path, [name for name in EXTENSIONS if name != gone])

    assert paths > 50
    assert steps > 10


def test_the_kernel_starts_alone_and_extensions_add_to_it(tmp_path: Path) -> None:
    for name in ("alone", "whole"):
        (tmp_path / name).mkdir()

    alone, whole = started(tmp_path / "alone", []), started(tmp_path / "whole", EXTENSIONS)

    assert [more > less for more, less in zip(whole, alone, strict=True)] == [True, True, True]


def test_each_step_of_an_extension_has_its_place_in_the_tick_and_its_own_name() -> None:
    assert {part.before for part in PARTS} <= {*KERNELS_STEPS}
    assert len(STEPS) == len(KERNELS_STEPS) + sum(len(part.steps) for part in PARTS)
    assert all(part.sends <= {*part.steps} for part in PARTS)
