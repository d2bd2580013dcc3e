"""The fingerprint of a campaign: when it changes, stored results are not used."""

import hashlib
from collections.abc import Iterable

from deploy.parts.layout import REPOSITORY


def fingerprint(sizes: str, places: Iterable[str]) -> str:
    """A hash of the campaign's sizes and seed, and of all Python files below these places of the repository."""
    said = hashlib.sha256(sizes.encode())
    for place in places:
        path = REPOSITORY / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            said.update(file.read_bytes())
    return said.hexdigest()
