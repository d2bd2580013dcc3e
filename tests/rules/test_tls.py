"""Our TLS clients take an owner's authority on each Python, and refuse what is wrong on each."""

import re
import socket
import ssl
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from deploy.parts.layout import REPOSITORY
from shared.outside import tls
from tests.deploy.certificates import Authority, Listener, listening

PARTS = ("shared", "extensions", "functions", "bridge", "deploy", "displays")
OWN = {"shared/outside/tls.py", "displays/minimal.py"}  # the second is an example that imports nothing of ours


@pytest.fixture(autouse=True)
def as_python_3_13(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its default context is strict: it wants a key usage of authorities, and an authority's key in certificates."""
    make = ssl.create_default_context

    def strict(*given: Any, **named: Any) -> ssl.SSLContext:
        context = make(*given, **named)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)


def connected(door: Listener, context: ssl.SSLContext, host: str) -> bool:
    with socket.create_connection(door.address, 60) as raw, context.wrap_socket(raw, server_hostname=host) as wrapped:
        return wrapped.version() is not None


def test_a_certificate_without_an_authoritys_key_is_taken(tmp_path: Path) -> None:
    with listening(tmp_path, timedelta(hours=1)) as door:
        authority = (tmp_path / "ca.pem").read_text(encoding="ascii")

        assert connected(door, tls.trusting(authority), "door.test")
        with pytest.raises(ssl.SSLCertVerificationError, match="Authority Key"):
            connected(door, ssl.create_default_context(cadata=authority), "door.test")


@pytest.mark.parametrize("wrong", ["name", "authority", "time"])
def test_another_name_authority_or_time_is_refused(tmp_path: Path, wrong: str) -> None:
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other").ca_file
    with listening(tmp_path, timedelta(hours=-1 if wrong == "time" else 1)) as door:
        trusted = other if wrong == "authority" else tmp_path / "ca.pem"
        context = tls.trusting(trusted.read_text(encoding="ascii"))

        with pytest.raises(ssl.SSLCertVerificationError):
            connected(door, context, "elsewhere.test" if wrong == "name" else "door.test")


def test_every_client_of_ours_trusts_alike() -> None:
    files = [path for part in PARTS for path in (REPOSITORY / part).rglob("*.py")]
    makers = {
        str(path.relative_to(REPOSITORY))
        for path in files
        if re.search(r"create_default_context", path.read_text("utf-8"))
    }

    assert makers == OWN
