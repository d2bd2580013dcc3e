"""The product's version. pyproject.toml states it; whatever shows or packs it asks here."""

import re
from functools import cache
from pathlib import Path
from typing import Final

STATED_IN: Final = Path(__file__).resolve().parents[1] / "pyproject.toml"
_LINE: Final = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)  # tomllib would add 10 ms to a cold start


@cache
def version() -> str:
    """The version of this code, such as 1.2.0. Raises LookupError if pyproject.toml states none."""
    found = _LINE.search(STATED_IN.read_text(encoding="utf-8"))
    if found is None:
        raise LookupError(f"{STATED_IN} states no version.")
    return found[1]
