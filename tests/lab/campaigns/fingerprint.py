"""What a campaign is made by: when any of it changes, what was done before does not count."""

import hashlib
from collections.abc import Iterable

from deploy.parts.layout import REPOSITORY


def fingerprint(sizes: str, places: Iterable[str]) -> str:
    """Of the campaign's sizes and seed, and of the Python files at these places of the repository, however deep."""
    said = hashlib.sha256(sizes.encode())
    for place in places:
        path = REPOSITORY / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            said.update(file.read_bytes())
    return said.hexdigest()
