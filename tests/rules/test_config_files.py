"""Configuration files with placeholders for nginx and mosquitto: every placeholder is filled, and every value used."""

from pathlib import Path

import pytest

from deploy.parts import gateway as nginx
from deploy.parts.config_file import INSIDE, BadTemplate, Certificate, Listener, filled
from deploy.parts.gateway import Gateway

CERTIFICATE = Certificate(Path("/etc/chain.pem"), Path("/etc/key.pem"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.conf"


def test_placeholders_are_filled_and_the_rest_stays_as_it_is(file: Path) -> None:
    file.write_text("# me@@example.org\nlisten @{address}:@{port};\nset $one $two; # {}%s\n", encoding="utf-8")

    text = filled(file, address="127.0.0.1", port=8080)

    assert text == "# me@example.org\nlisten 127.0.0.1:8080;\nset $one $two; # {}%s\n"


def test_what_a_value_holds_is_no_placeholder(file: Path) -> None:
    file.write_text("root @{folder};\n", encoding="utf-8")

    assert filled(file, folder="/srv/@{port}/$x") == "root /srv/@{port}/$x;\n"


@pytest.mark.parametrize(
    ("text", "values", "named"),
    [
        ("listen @{port};", {}, "port"),
        ("listen 80;", {"port": 80}, "port"),
        ("listen @{prot};", {"port": 80}, "port, prot"),
    ],
    ids=["no value", "no place", "a slip of the pen"],
)
def test_a_file_and_values_that_do_not_fit_stop(file: Path, text: str, values: dict[str, object], named: str) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadTemplate, match=f"some.conf and its values differ in {named}"):
        filled(file, **values)


@pytest.mark.parametrize("text", ["me @ home", "@{}", "@{a-b}", "@{port"])
def test_a_sign_that_begins_no_placeholder_stops(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadTemplate, match="an @ that begins no placeholder"):
        filled(file, port=80)


def test_only_a_listener_with_a_certificate_speaks_tls(tmp_path: Path) -> None:
    gateway = Gateway(tmp_path, 8443, 8081)

    plain = nginx.files(gateway, INSIDE)
    secure = nginx.files(gateway, Listener("0.0.0.0", CERTIFICATE, ("signage.test",)))

    assert plain["tls.conf"] == ""
    assert "listen 127.0.0.1:8443;" in plain["nginx.conf"]
    assert 'ssl_certificate "/etc/chain.pem";' in secure["tls.conf"]
    assert 'ssl_certificate_key "/etc/key.pem";' in secure["tls.conf"]
    assert "listen 0.0.0.0:8443 ssl;" in secure["nginx.conf"]
    assert "server_name signage.test;" in secure["nginx.conf"]


def test_an_address_of_ipv6_stands_in_brackets_before_its_port(tmp_path: Path) -> None:
    text = nginx.files(Gateway(tmp_path, 8443, 8081), Listener("::"))["nginx.conf"]

    assert "listen [::]:8443;" in text
