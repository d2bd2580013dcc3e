"""The folders, ports and generated secrets of the local stack or a box."""

import os
import secrets
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts.components import PORTS

REPOSITORY: Final = Path(__file__).resolve().parents[2]
LOOPBACK: Final = "127.0.0.1"
ADMIN: Final = "admin"  # the user of the first sign-in
SIGN_IN: Final = "admin_password"  # names of files among the secrets
SCRIPTS_KEY: Final = "admin_token"
GATEWAY_KEY: Final = "gateway_key"


class BadSetting(Exception):
    """A setting cannot be used; the message names it."""


@dataclass(frozen=True)
class Layout:
    """The folders below the state directory. Only the owner may enter it and `secrets` (0700)."""

    root: Path

    @property
    def run(self) -> Path:
        """Generated configuration, process ids, the lock and the status."""
        return self.root / "run"

    @property
    def data(self) -> Path:
        """The data of Postgres and the broker."""
        return self.root / "data"

    @property
    def media(self) -> Path:
        """The media volume, unless MEDIA_ROOT names another folder."""
        return self.root / "media"

    @property
    def secrets(self) -> Path:
        """Generated passwords and keys, one file each (0600)."""
        return self.root / "secrets"

    @property
    def demo(self) -> Path:
        """The simulated displays' logins and disks."""
        return self.root / "demo"

    @property
    def stack_env(self) -> Path:
        """The file that scripts source."""
        return self.root / "stack.env"

    @property
    def lock(self) -> Path:
        """The running stack locks this file. If it exists, the folder belongs to a stack."""
        return self.run / "up.lock"

    def prepare(self) -> None:
        """Create the folders that are missing.

        Raises:
            BadSetting: the folder cannot be made, or does not belong to a stack.
        """
        self.check_ours()
        with usable("LOCAL_STATE_DIR", self.root):
            for folder in (self.root, self.run, self.data, self.media, self.secrets):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for private in (self.root, self.secrets):
                private.chmod(0o700)

    def check_ours(self) -> None:
        """Refuse a folder that no stack has made, so that no foreign file is deleted and no mode changed.

        Raises:
            BadSetting: the folder exists, is not empty, and no stack has run there.
        """
        with usable("LOCAL_STATE_DIR", self.root):
            if self.root.exists() and not self.lock.exists() and any(self.root.iterdir()):
                raise BadSetting(f"LOCAL_STATE_DIR: {self.root} holds other things; name an empty or a new folder.")

    def secret(self, name: str, make: Callable[[], str] = lambda: secrets.token_urlsafe(32)) -> str:
        """The generated secret of this name; made at the first call and then kept in a file."""
        path = self.secrets / name
        if not path.exists():
            write_file(path, make() + "\n")
        return path.read_text(encoding="utf-8").strip()


@contextmanager
def usable(name: str, folder: Path) -> Iterator[None]:
    """Turn an OSError in the block into one that names the setting.

    Raises:
        BadSetting: the block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise BadSetting(f"{name}: {folder} cannot be used: {error.strerror}.") from None


def layout_from(environ: Mapping[str, str]) -> Layout:
    """The state directory that LOCAL_STATE_DIR names; `.local` in the repository by default."""
    return Layout((REPOSITORY / (environ.get("LOCAL_STATE_DIR") or ".local")).absolute())


def ports_from(environ: Mapping[str, str]) -> dict[str, int]:
    """Each port by its name, as the environment sets it or by default.

    Raises:
        BadSetting: a port is not a number from 1 to 65,535, or two ports are the same.
    """
    ports = {name: _port(name, environ.get(name) or str(default)) for name, default in PORTS.items()}
    name_of: dict[int, str] = {}
    for name, port in ports.items():
        if name_of.setdefault(port, name) != name:
            raise BadSetting(f"{name} and {name_of[port]} are both {port}; each needs a port of its own.")
    return ports


def _port(name: str, text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise BadSetting(f"{name}: {text!r} is no port; expected 1 to 65535.")
    return int(text)


def write_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file atomically: a reader never sees half of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)


def read_stack_env(path: Path) -> dict[str, str]:
    """The variables of a `stack.env`, parsed like a shell does; empty when there is no file."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    words = [word for line in lines for word in shlex.split(line, comments=True) if "=" in word]
    return dict(word.split("=", 1) for word in words)
