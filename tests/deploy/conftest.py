"""A box with a certificate of its own CA, on free ports, in the test's own folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.parts.components import PORTS
from tests.deploy.certificates import Authority
from tests.local.conftest import patient_probes  # noqa: F401 - for every test here
from tests.stack import free_ports

HOST = "box.test"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """The test's own CA."""
    return Authority(tmp_path)


@pytest.fixture
def environ(authority: Authority, tmp_path: Path) -> dict[str, str]:
    """The environment for a box."""
    return what_a_box_is_told(authority, tmp_path)


def what_a_box_is_told(authority: Authority, folder: Path) -> dict[str, str]:
    """Settings of a box: names, a certificate, free ports, and folders below `folder`."""
    certificate, key = authority.sign(HOST)
    return {
        "BOX_HOST": HOST,
        "BOX_CERTIFICATE_FILE": str(certificate),
        "BOX_KEY_FILE": str(key),
        "LOCAL_STATE_DIR": str(folder / "state"),
        "MEDIA_ROOT": str(folder / "media"),
        **{name: str(port) for name, port in zip(PORTS, free_ports(len(PORTS)), strict=True)},
    }


@pytest.fixture
def without(environ: dict[str, str]) -> Callable[[str], dict[str, str]]:
    """Returns the environment without one variable."""
    return lambda missing: {name: value for name, value in environ.items() if name != missing}
