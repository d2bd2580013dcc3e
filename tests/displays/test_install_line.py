"""The line that the dialog shows, in a shell: with curl, with wget, with neither."""

import functools
import hashlib
import http.server
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deploy.certificates import Authority
from tests.install_line import install_line

NEEDED = ("sh", "mktemp", "sha256sum", "env")


@contextmanager
def service(folder: Path, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """A service whose installer prints with what it was started."""
    (folder / "web/display").mkdir(parents=True)
    (folder / "web/display/install.sh").write_text('echo started with "$@"\n')
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder / "web")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
        server.shutdown()


def ran(line: str, folder: Path, *tools: str) -> "subprocess.CompletedProcess[str]":
    """Run the line in a shell that knows only these programs, and few others; sudo is there and does nothing."""
    programs = folder / "bin"
    programs.mkdir()
    for name in (*NEEDED, *tools):
        (programs / name).symlink_to(shutil.which(name) or pytest.skip(f"{name} is not installed"))
    (programs / "sudo").write_text('#!/usr/bin/env sh\nexec "$@"\n')
    (programs / "sudo").chmod(0o755)
    surroundings = {**os.environ, "PATH": str(programs), "TMPDIR": str(folder), "no_proxy": "127.0.0.1"}
    return subprocess.run(["sh", "-c", line], check=False, capture_output=True, text=True, env=surroundings)


@pytest.mark.parametrize("tool", ["curl", "wget"])
def test_one_of_two_programs_is_enough_to_fetch_the_installer(tmp_path: Path, tool: str) -> None:
    with service(tmp_path) as url:
        done = ran(install_line(url, "A-CODE"), tmp_path, tool)

    assert (done.returncode, done.stdout) == (0, f"started with {url} A-CODE\n"), done.stderr


@pytest.mark.parametrize("tool", ["curl", "wget"])
@pytest.mark.parametrize("spoiled", [False, True])
def test_each_of_them_trusts_the_ca_with_the_hash_alone(tmp_path: Path, tool: str, spoiled: bool) -> None:
    authority, context = Authority(tmp_path), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.sign("service.test"))
    with service(tmp_path, context) as url:
        shutil.copy(authority.ca_file, tmp_path / "web/display/ca.pem")
        digest = "0" * 64 if spoiled else hashlib.sha256(authority.ca_file.read_bytes()).hexdigest()
        done = ran(install_line(url, "A-CODE", digest), tmp_path, tool)

    assert (done.returncode == 0) is not spoiled
    assert ("started with" in done.stdout) is not spoiled


def test_with_neither_of_them_or_without_the_service_the_line_fails(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    with service(tmp_path) as url:
        without = ran(install_line(url, "A-CODE"), tmp_path / "one")
        missing = ran(install_line(f"{url}/nothing", "A-CODE"), tmp_path / "other", "curl", "wget")

    assert without.returncode != 0
    assert "wget" in without.stderr
    assert missing.returncode != 0
    assert "started" not in without.stdout + missing.stdout
