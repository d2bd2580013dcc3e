"""The files of the extension for HiveMQ CE name each other. `make campaign ONLY=broker BROKER=hivemq` builds it."""

import re
import xml.etree.ElementTree as ET

from bridge.broker_logins.server import LOOPBACK
from deploy.parts.layout import REPOSITORY
from shared.config import load

FOLDER = REPOSITORY / "deploy/parts/hivemq"
SERVICES = FOLDER / "src/main/resources/META-INF/services"


def test_hivemq_finds_the_class_of_the_extension() -> None:
    named = (SERVICES / "com.hivemq.extension.sdk.api.ExtensionMain").read_text(encoding="utf-8").strip()

    source = (FOLDER / "src/main/java" / f"{named.replace('.', '/')}.java").read_text(encoding="utf-8")
    assert "implements ExtensionMain" in source
    pom = (FOLDER / "pom.xml").read_text(encoding="utf-8")
    identity = ET.parse(FOLDER / "hivemq-extension.xml").getroot().findtext("id")
    assert f"<finalName>{identity}/{identity}</finalName>" in pom


def test_the_extension_asks_where_our_login_server_listens() -> None:
    source = (FOLDER / "src/main/java/signage/Logins.java").read_text(encoding="utf-8")

    assert re.findall(r'"(http://[^"]+)"', source) == [f"http://{LOOPBACK}:{load()['BROKER_LOGINS_PORT']}"]
    assert '"/session"' in source


def test_the_settings_keep_what_waits_for_an_absent_bridge() -> None:
    settings = ET.parse(FOLDER / "config.xml").getroot()

    assert int(settings.findtext("mqtt/queued-messages/max-queue-size", "0")) >= 1_000_000
    assert int(settings.findtext("mqtt/receive-maximum/server-receive-maximum", "0")) >= 50
