"""`make deploy-files`: writes a box's units and containers from deploy/components.yaml.

A unit's drop-ins (such as signage-gateway.service.d), and compose.yaml down to `MARK` but for its image, are written by
hand.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from deploy.parts.components import OF_A_BOX, Component
from deploy.parts.layout import REPOSITORY
from deploy.release import images
from shared.version import version

SYSTEMD: Final = REPOSITORY / "deploy" / "systemd"
COMPOSE: Final = REPOSITORY / "deploy" / "docker" / "compose.yaml"
MARK: Final = "  # `make deploy-files` writes all below from deploy/components.yaml.\n"
STATE: Final = "/var/lib/signage"
FOLDERS: Final = {
    **{name: f"{STATE}/{name}" for name in ("run", "data", "secrets")},
    **{name: f"/etc/signage/{name}" for name in ("certificates", "ca")},
    "media": "/server/media",
}
BESIDE: Final = {"certificates", "ca", "secrets"}  # folders beside compose.yaml; the others are volumes
FONTS: Final = REPOSITORY / "deploy" / "parts" / "converter" / "fontconfig" / "fonts.conf"
ONCE: Final = "service_completed_successfully"
ENDED: Final = {"migrations": ONCE, "setup": ONCE, "postgres": "service_healthy"}
USER: Final = '"10001:10001"'
STAYS: Final = ["Type=exec", "Restart=always", "RestartSec=2"]
ENDS: Final = ["Type=oneshot", "RemainAfterExit=yes"]


def unit(name: str, component: Component) -> str:
    """A component's unit."""
    after = " ".join(f"signage-{other}.service" for other in component.after if other != "postgres")
    secrets = " ".join(f"{STATE}/secrets/{secret}" for secret in sorted(component.all_secrets))
    writes = " ".join(FOLDERS[folder] for folder in component.writes)
    lines = [
        "# `make deploy-files` writes this from deploy/components.yaml.",
        "[Unit]",
        f"Description=Signage Fleet: {component.what}",
        f"Requires={after}",
        f"After=network-online.target {after}",
        *([] if component.once else ["StartLimitIntervalSec=0"]),
        "",
        "[Service]",
        *(ENDS if component.once else STAYS),
        f"ExecStart=/opt/signage/.venv/bin/python -m deploy.box.run {name}",
        f"MemoryMax={component.memory}G",
        *([f"LimitNOFILE={component.open_files}"] if component.open_files else []),
        "",
    ]
    if "secrets" not in component.writes:
        lines += ["# The service sees only its own secrets.", f"TemporaryFileSystem={STATE}/secrets:ro"]
        lines += [f"BindReadOnlyPaths={secrets}"] if secrets else []
    lines += [f"ReadWritePaths={writes}"] if writes else []
    if component.loopback:
        lines += ["# Only connections within this machine. If Postgres runs elsewhere, allow its address in a drop-in."]
        lines += ["IPAddressDeny=any", "IPAddressAllow=localhost"]
    return "\n".join(lines) + "\n"


def container(name: str, component: Component) -> str:
    """A component's service in compose.yaml."""
    before = ["net: *net", *map(_condition, component.after)]
    folders = [*((folder, ":ro") for folder in component.reads), *((folder, "") for folder in component.writes)]
    volumes = [f'"{"./" * (folder in BESIDE)}{folder}:{FOLDERS[folder]}{mode}"' for folder, mode in folders]
    if handed(component):
        volumes.append(f'"./secrets-of/{name}:{FOLDERS["secrets"]}:ro"')
    lines = [
        f"  {name}:",
        "    <<: *box",
        *(["    restart: on-failure:3"] if component.once else []),
        f"    command: [python, -m, deploy.box.run, {name}]",
        f"    mem_limit: {component.memory}g",
        *([f"    ulimits: {{ nofile: {component.open_files} }}"] if component.open_files else []),
        f"    depends_on: {{ {', '.join(before)} }}",
        *([f"    volumes: [{', '.join(volumes)}]"] if volumes else []),
    ]
    return "\n".join(lines) + "\n\n"


def handed(component: Component) -> bool:
    """Whether it sees copies of its secrets alone, in a folder of its own."""
    return bool(component.all_secrets) and "secrets" not in component.writes


def folders(ours: Mapping[str, Component]) -> str:
    """The service that makes the folders beside compose.yaml the image's user's.

    Docker makes a missing one, as root. Root changes the owner of the mounts alone, of nothing in them; nobody but root
    can put something else in their place.
    """
    of = ["postgres", *(name for name, component in ours.items() if handed(component))]
    mounts = {**{f"./{name}": f"/made/{name}" for name in sorted(BESIDE)}}
    mounts |= {f"./secrets-of/{name}": f"/made/of-{name}" for name in of}
    return (
        "  folders:\n    <<: *apart\n"
        '    user: "0:0"\n    cap_add: [CHOWN]\n    network_mode: none\n    restart: on-failure:3\n'
        f"    command: [chown, {USER}, {', '.join(mounts.values())}]\n    volumes:\n"
        + "".join(f"      - {source}:{target}\n" for source, target in mounts.items())
        + "\n"
    )


def _condition(other: str) -> str:
    return f"{other}: {{ condition: {ENDED.get(other, 'service_started')} }}"


def compose() -> str:
    """compose.yaml. Its converter is Gotenberg, in the part above."""
    ours = {name: component for name, component in OF_A_BOX.items() if name != "converter"}
    by_hand = COMPOSE.read_text(encoding="utf-8").partition(MARK)[0]
    pulled = f"image: ${{SIGNAGE_IMAGE:-{images.name('box', version())}}}"
    by_hand = re.sub(r"image: \$\{SIGNAGE_IMAGE:-[^}]*\}", lambda _: pulled, by_hand)
    containers = folders(ours) + "".join(container(name, component) for name, component in ours.items())
    fonts = "".join(f"      {line}\n" for line in FONTS.read_text(encoding="utf-8").splitlines())
    return f"{by_hand}{MARK}{containers}configs:\n  fonts:\n    content: |\n{fonts}"


def files() -> dict[Path, str]:
    """Every file, as it is to be."""
    units = {f"signage-{name}.service": unit(name, component) for name, component in OF_A_BOX.items()}
    wants = "Wants=" + " ".join(["signage-setup.service", *units])
    target = re.sub(r"(?m)^Wants=.*$", wants, (SYSTEMD / "signage.target").read_text(encoding="utf-8"))
    return {COMPOSE: compose(), **{SYSTEMD / name: text for name, text in {**units, "signage.target": target}.items()}}


if __name__ == "__main__":
    for file, content in files().items():
        file.write_text(content, encoding="utf-8")
