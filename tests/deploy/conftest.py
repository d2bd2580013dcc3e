"""A box with a certificate of its own CA, on free ports, in a folder of the test's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.box.box import Box
from deploy.local.layout import PORTS
from deploy.local.probes import free_port
from tests.deploy.certificates import Authority

HOST = "box.test"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A CA that nobody else trusts."""
    return Authority(tmp_path)


@pytest.fixture
def environ(authority: Authority, tmp_path: Path) -> dict[str, str]:
    """What whoever sets up a box tells it."""
    certificate, key = authority.sign(HOST)
    return {
        "BOX_HOST": HOST,
        "BOX_CERTIFICATE_FILE": str(certificate),
        "BOX_KEY_FILE": str(key),
        "LOCAL_STATE_DIR": str(tmp_path / "state"),
        "MEDIA_ROOT": str(tmp_path / "media"),
        **{name: str(free_port()) for name in PORTS},
    }


@pytest.fixture
def without(environ: dict[str, str]) -> Callable[[str], dict[str, str]]:
    """The same without one variable."""
    return lambda missing: {name: value for name, value in environ.items() if name != missing}


def secrets_read(environ: dict[str, str], service: str) -> set[str]:
    """The names of the generated secrets whose files a service is told of."""
    box = Box(environ)
    box.layout.run.mkdir(parents=True, exist_ok=True)
    told = box.service(service).environment or {}
    folder = f"{box.layout.secrets}/"
    return {
        value.removeprefix(folder)
        for name, value in told.items()
        if name.endswith("_FILE") and value.startswith(folder)
    }
