"""The converter's settings, from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shared import config
from shared.errors import ConfigurationError

FORM_OVERHEAD_BYTES = 64 * 1024  # boundaries and part headers around the largest upload


@dataclass(frozen=True)
class Settings:
    """The converter's settings, checked."""

    port: int
    """On 127.0.0.1."""
    deadline_seconds: int
    """The timeout of one document, from the moment when LibreOffice has it."""
    body_limit_bytes: int
    """A request with a larger body is answered 413."""
    folder: Path
    """The converter's own folder for all its files, emptied at each start."""
    allow_unsandboxed: bool
    """Convert even where bubblewrap does not work; `/health` says so."""


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the environment. Raises ConfigurationError, naming the variable."""
    environ = os.environ if environ is None else environ
    product = config.load(environ)
    return Settings(
        port=_port(environ.get("CONVERTER_PORT") or "3000"),
        deadline_seconds=product["CONVERSION_DEADLINE_SECONDS"],
        body_limit_bytes=product["UPLOAD_LIMIT_BYTES"] + FORM_OVERHEAD_BYTES,
        folder=Path(environ.get("LOCAL_STATE_DIR") or ".local").absolute() / "run" / "converter",
        allow_unsandboxed=environ.get("CONVERTER_ALLOW_UNSANDBOXED") == "1",
    )


def _port(value: str) -> int:
    if not value.isascii() or not value.isdigit() or not 1 <= int(value) <= 65_535:
        raise ConfigurationError(f"CONVERTER_PORT: {value[:20]!r} is no port from 1 to 65535.")
    return int(value)
