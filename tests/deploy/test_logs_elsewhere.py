"""A box's logs on another machine: the settings of systemd's sender; every log of a box reaches the journal."""

import configparser
import re
from typing import Final

import yaml

from deploy.parts.layout import REPOSITORY

FILE: Final = REPOSITORY / "deploy" / "box" / "journal-upload.conf"
GUIDE: Final = REPOSITORY / "docs" / "operating.md"
KNOWN: Final = {"URL", "ServerKeyFile", "ServerCertificateFile", "TrustedCertificateFile"}  # in every version since 216


def upload() -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as it is written
    parser.read_string(FILE.read_text(encoding="utf-8"))
    assert parser.sections() == ["Upload"]
    return dict(parser["Upload"])


def test_it_is_sent_by_tls_to_a_receiver_that_is_looked_at() -> None:
    told = upload()

    assert set(told) == KNOWN  # the sender ignores unknown settings with a warning
    assert re.fullmatch(r"https://[a-z.]+:19532", told["URL"])
    assert told["TrustedCertificateFile"].startswith("/"), "`all` would believe everybody"
    assert told["ServerKeyFile"] != told["ServerCertificateFile"]


def test_the_guide_puts_each_file_where_the_sender_looks() -> None:
    section = GUIDE.read_text(encoding="utf-8").split("### Logs elsewhere")[1].split("\n## ")[0]

    for file in (set(upload().values()) - {upload()["URL"]}) | {"/etc/systemd/journal-upload.conf.d/signage.conf"}:
        assert f" {file}\n" in section


def test_a_unit_logs_to_the_journal_and_compose_says_once_where_containers_do() -> None:
    for unit in (REPOSITORY / "deploy" / "systemd").glob("*.service"):
        assert "StandardOutput" not in unit.read_text(encoding="utf-8")  # systemd's default is the journal
    text = (REPOSITORY / "deploy" / "docker" / "compose.yaml").read_text(encoding="utf-8")
    services = yaml.safe_load(text)["services"]

    assert text.count("driver: local") == 1
    assert {service["logging"]["driver"] for service in services.values()} == {"local"}
