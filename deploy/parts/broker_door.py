"""Compile the broker's plugin, `broker_door.c`, into a library that mosquitto can load.

    python -m deploy.parts.broker_door FILE

compiles it in advance, for an image or for a machine without a compiler. A library beside the source is used as it is.
Otherwise it is compiled in the broker's folder, once for each version of the source.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_suffix(".c")
# An image contains it, so that nothing is compiled there. Python would import a broker_door.so instead of this file.
BESIDE: Final = SOURCE.with_name("broker-door.so")
COMPILERS: Final = ("gcc", "cc", "clang")
OPTIONS: Final = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-D_FORTIFY_SOURCE=2")
COMPILING_SECONDS: Final = 120.0


class NoDoor(Exception):
    """The plugin cannot be compiled here; the message says what to do."""


def library(folder: Path) -> Path:
    """The path of the library; compiles it into `folder` if there is none. Raises NoDoor, OSError."""
    if BESIDE.exists():
        return BESIDE
    version = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    place = folder / f"broker_door-{version}.so"
    if not place.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.{os.getpid()}")
        draft.write_bytes(_compiled())
        draft.chmod(0o600)
        draft.replace(place)  # a broker that has loaded the old file keeps using it
    return place


@cache
def _compiled() -> bytes:
    program = next(filter(None, map(shutil.which, COMPILERS)), None)
    if program is None:
        raise NoDoor("There is no C compiler: install the Debian packages gcc and libc6-dev.")
    with tempfile.TemporaryDirectory(prefix="signage-door-") as folder:
        made = Path(folder) / "door.so"
        command = [program, *OPTIONS, "-o", str(made), str(SOURCE)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=COMPILING_SECONDS)
        except subprocess.CalledProcessError as error:
            raise NoDoor(f"{SOURCE.name} does not compile: {error.stderr.strip()}") from None
        except subprocess.TimeoutExpired:
            raise NoDoor(f"{program} has not answered for {COMPILING_SECONDS:.0f} s.") from None
        return made.read_bytes()


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(_compiled())
