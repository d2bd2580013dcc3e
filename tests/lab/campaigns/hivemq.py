"""HiveMQ CE from Maven Central with our settings and our extension for logins (deploy/parts/hivemq).

It needs `mvn` and a Java of 17 or newer. It listens on loopback.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import Probe, accepts, free_port

SHIPPED: Final = REPOSITORY / "deploy/parts/hivemq"
POM: Final = Path(__file__).with_name("hivemq.pom.xml")
MEGABYTES: Final = 1024  # of Java's heap
LISTENER: Final = """\
    <listeners>
        <tcp-listener>
            <port>{port}</port>
            <bind-address>{address}</bind-address>
        </tcp-listener>
    </listeners>
</hivemq>
"""
OPEN_TO_IT: Final = (
    "java.base/java.lang",
    "java.base/java.nio",
    "java.base/sun.nio.ch",
    "java.base/sun.security.provider",
)


@dataclass(frozen=True)
class Hive:
    """The folder and ports of one HiveMQ."""

    folder: Path
    mqtt_port: int
    logins_port: int

    @classmethod
    def below(cls, folder: Path, logins_port: int) -> "Hive":
        """Prepare one that keeps its files below `folder`, and asks our login server at `logins_port`."""
        hive = cls(folder, free_port(), logins_port)
        for name in ("conf", "data", "log"):
            (folder / name).mkdir(parents=True)
        settings = (SHIPPED / "config.xml").read_text(encoding="utf-8")
        listener = LISTENER.format(port=hive.mqtt_port, address=LOOPBACK)
        (folder / "conf" / "config.xml").write_text(settings.replace("</hivemq>\n", listener))
        _maven(POM, "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'lib'}")
        source = shutil.copytree(SHIPPED, folder / "source", ignore=shutil.ignore_patterns("target"))
        _maven(source / "pom.xml", "package")
        shutil.copytree(source / "target/signage-logins", folder / "extensions/signage-logins")
        return hive

    @property
    def environment(self) -> dict[str, str]:
        return {"BROKER_LOGINS_URL": f"http://{LOOPBACK}:{self.logins_port}"}

    def command(self) -> tuple[str, ...]:
        """Its command line."""
        opened = (f"--add-opens={package}=ALL-UNNAMED" for package in OPEN_TO_IT)
        exported = "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED"
        return (
            *("java", *opened, exported, f"-Xmx{MEGABYTES}m", f"-Dhivemq.home={self.folder}"),
            *("-cp", f"{self.folder}/lib/*", "com.hivemq.HiveMQServer"),
        )

    def answers(self) -> Probe:
        """Whether it takes connections. It opens its listener as the last thing of its start."""
        return accepts(self.mqtt_port)


def version() -> str:
    """The version that is tried."""
    found = re.search(r"<version>(\d{4}[.\d]*)</version>", POM.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def _maven(pom: Path, goal: str, *options: str) -> None:
    subprocess.run(("mvn", "--batch-mode", "--quiet", "--file", str(pom), goal, *options), check=True)
