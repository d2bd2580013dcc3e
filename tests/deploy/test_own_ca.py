"""A box's own authority: for a box without a certificate, and never in the place of somebody's."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from deploy.box import own_ca
from deploy.box.box import Box
from deploy.box.setup import set_up
from tests.deploy.certificates import Authority
from tests.deploy.conftest import HOST


@pytest.fixture
def empty(environ: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The environment of a box without a certificate."""
    folder = tmp_path / "beside"
    folder.mkdir()
    files = {"BOX_CERTIFICATE_FILE": "certificate.pem", "BOX_KEY_FILE": "key.pem", "BOX_OWN_CA_FILE": "ca.pem"}
    return environ | {name: str(folder / file) for name, file in files.items()}


def certificate(environ: dict[str, str]) -> x509.Certificate:
    return x509.load_pem_x509_certificate(Path(environ["BOX_CERTIFICATE_FILE"]).read_bytes())


def test_a_box_without_a_certificate_makes_one_that_its_doors_and_displays_take(empty: dict[str, str]) -> None:
    set_up(Box(empty))

    Box(empty).check_tls()
    trusting = ssl.create_default_context(cafile=empty["BOX_OWN_CA_FILE"])
    assert [ca["subject"] for ca in trusting.get_ca_certs()] == [((("commonName", f"Signage Fleet, {HOST}"),),)]
    authority = x509.load_pem_x509_certificate(Path(empty["BOX_OWN_CA_FILE"]).read_bytes())
    certificate(empty).verify_directly_issued_by(authority)
    assert Box(empty).config["DISPLAYS_CA_FILE"] == empty["BOX_OWN_CA_FILE"]
    assert Path(empty["BOX_KEY_FILE"]).stat().st_mode & 0o777 == 0o640


def test_its_certificate_stays_until_it_is_old_or_the_box_has_another_name(
    empty: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(Box(empty))
    first, authority = certificate(empty), Path(empty["BOX_OWN_CA_FILE"]).read_bytes()
    set_up(Box(empty))
    assert certificate(empty) == first

    set_up(Box(empty | {"BOX_HOST": "192.0.2.7"}))
    renamed = certificate(empty)
    assert renamed != first
    monkeypatch.setattr(own_ca, "LIFETIME", timedelta(days=3 * 400))  # of which less than a third is left
    set_up(Box(empty | {"BOX_HOST": "192.0.2.7"}))
    assert certificate(empty).not_valid_after_utc > renamed.not_valid_after_utc
    assert Path(empty["BOX_OWN_CA_FILE"]).read_bytes() == authority


def test_somebodys_certificate_ends_the_own_authority(empty: dict[str, str], authority: Authority) -> None:
    set_up(Box(empty))
    theirs, key = authority.sign(HOST)

    given = empty | {"BOX_CERTIFICATE_FILE": str(theirs), "BOX_KEY_FILE": str(key)}
    set_up(Box(given))
    set_up(Box(given))

    assert not Path(empty["BOX_OWN_CA_FILE"]).exists()
    assert Box(given).config["DISPLAYS_CA_FILE"] == ""


def test_somebodys_authority_in_its_place_is_left_alone(empty: dict[str, str], authority: Authority) -> None:
    set_up(Box(empty))
    theirs, key = authority.sign(HOST, timedelta(days=1))  # due, if it were ours
    Path(empty["BOX_OWN_CA_FILE"]).write_bytes(authority.ca_file.read_bytes())

    set_up(Box(empty | {"BOX_CERTIFICATE_FILE": str(theirs), "BOX_KEY_FILE": str(key)}))

    assert Path(empty["BOX_OWN_CA_FILE"]).read_bytes() == authority.ca_file.read_bytes()
    assert x509.load_pem_x509_certificate(theirs.read_bytes()).not_valid_after_utc < datetime.now(UTC) + timedelta(2)


def test_a_key_is_made_for_each_certificate(empty: dict[str, str]) -> None:
    set_up(Box(empty))
    first = Path(empty["BOX_KEY_FILE"]).read_bytes()
    set_up(Box(empty | {"BOX_HOST": "other.test"}))

    key = serialization.load_pem_private_key(Path(empty["BOX_KEY_FILE"]).read_bytes(), None)
    assert Path(empty["BOX_KEY_FILE"]).read_bytes() != first
    assert key.public_key() == certificate(empty).public_key()
