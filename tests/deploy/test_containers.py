"""deploy/docker without a daemon: the image has all needed files, and compose gives each service what it needs."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any, Final

import pytest
import yaml

from deploy.box.box import DEFAULTS
from deploy.parts.components import COMPONENTS, PORTS
from deploy.parts.layout import REPOSITORY
from deploy.release import images
from shared.config import BY_NAME
from shared.version import version
from tests.deploy.confined import COMPOSE, DOCKER, Containers, copied, instructions
from tests.deploy.terraform import root

THEIRS: Final = {"postgres", "gotenberg"}  # third-party images
OF_THE_BOX: Final = {*DEFAULTS, "BOX_CERTIFICATE_FILE", "BOX_KEY_FILE", "GOTENBERG_SECONDS"}

OURS: Final = {name: service for name, service in COMPOSE["services"].items() if name not in THEIRS}


def first_party_imports(file: Path) -> Iterator[str]:
    """The project's modules that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("stages", [("app", "box"), ("sources",)], ids=["box", "trial"])
def test_what_the_image_holds_imports_nothing_of_ours_that_it_does_not_hold(stages: tuple[str, ...]) -> None:
    held = copied(*stages)
    files = [file for source in held for file in (REPOSITORY / source).rglob("*.py")]
    packages = {path.parent.name for path in REPOSITORY.glob("*/__init__.py")}
    missing = {
        name
        for file in files
        for name in first_party_imports(file)
        if name.split(".")[0] in packages and not any(name.replace(".", "/").startswith(f"{kept}") for kept in held)
    }

    assert {name for name in missing if name != "deploy"} == set()
    assert len(files) > 100


def test_the_image_of_a_box_holds_what_a_box_runs_and_no_more() -> None:
    held = copied("app", "box")
    agent = {f"displays/{name}" for name in ("__init__.py", "agent", "browser", "client")}
    deploy = {name for name in held if name.startswith("deploy/")}
    assert deploy == {"deploy/__init__.py", "deploy/components.yaml", "deploy/parts", "deploy/box"}
    assert agent < held, "the gateway serves it, and builds the agent's package from it"
    assert {"alembic.ini", "LICENSE", "NOTICE"} <= held
    assert {"functions", "bridge", "extensions", "shared", "migrations"} <= held


def test_what_is_copied_is_let_in_and_nothing_else_is() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").split("\n")
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert let_in == {path for path in copied() if not any(str(above) in copied() for above in Path(path).parents)}
    assert next(line for line in ignored if line and not line.startswith("#")) == "*"
    assert all((REPOSITORY / source).exists() for source in copied())


def test_the_images_end_as_a_user_that_is_not_root_under_an_init() -> None:
    stages: dict[str, list[tuple[str, str]]] = {}
    for word, rest in instructions():
        if word == "FROM":
            stage = rest.split(" AS ")[1]
            stages[stage] = []
        else:
            stages[stage].append((word, rest))

    for name in ("app", "box"):
        assert [rest for word, rest in stages[name] if word == "USER"][-1] == "10001:10001", name
    assert ("ENTRYPOINT", '["tini", "--"]') in stages["app"]
    assert "--only-binary=:all:" in str(stages["packages"])


def named(compose: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(kind, name) of all references of the services: other services, volumes, networks and configs."""
    for service in compose["services"].values():
        yield from (("services", name) for name in service.get("depends_on", ()))
        shared = (service.get("network_mode", ""), service.get("pid", ""))
        yield from (("services", mode.partition(":")[2]) for mode in shared if mode.startswith("service:"))
        yield from (("networks", name) for name in service.get("networks", ()))
        yield from (("configs", one["source"]) for one in service.get("configs", ()))
        sources = (volume.split(":")[0] for volume in service.get("volumes", ()))
        yield from (("volumes", source) for source in sources if not source.startswith((".", "/")))


def test_whatever_a_service_refers_to_is_declared() -> None:
    """No schema or linter checks it, and compose only at the start."""
    assert {(kind, name) for kind, name in named(COMPOSE) if name not in COMPOSE[kind]} == set()
    assert {kind for kind, _ in named(COMPOSE)} == {"services", "networks", "configs", "volumes"}


def test_every_variable_of_compose_is_closed() -> None:
    texts = [line.split(" #")[0] for line in (DOCKER / "compose.yaml").read_text(encoding="utf-8").splitlines()]

    assert not [text for text in texts if text.count("$") != len(re.findall(r"\$\{[A-Z_]+(:[-?][^{}]*)?\}", text))]


def values(value: object) -> Iterator[tuple[str, str]]:
    """(key, value as text) of compose.yaml, at any depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from values(inner) if isinstance(inner, (Mapping, list)) else [(key, str(inner))]
    elif isinstance(value, list):
        yield from (pair for inner in value for pair in values(inner))


def test_times_sizes_and_policies_are_ones_that_docker_reads() -> None:
    forms = {
        **dict.fromkeys(
            ("interval", "timeout", "start_period", "start_interval", "stop_grace_period"), r"([0-9]+(us|ms|s|m|h))+"
        ),
        **dict.fromkeys(("mem_limit", "shm_size", "max-size"), r"[0-9]+[bkmg]"),
        "restart": r"no|always|unless-stopped|on-failure(:[0-9]+)?|True",  # true: of a service's depends_on
    }
    told = [(key, value) for key, value in values(COMPOSE["services"]) if key in forms]
    probes = [service["healthcheck"]["test"] for service in COMPOSE["services"].values() if "healthcheck" in service]

    assert [(key, value) for key, value in told if not re.fullmatch(forms[key], value)] == []
    assert {key for key, _ in told} >= {"stop_grace_period", "mem_limit", "restart"}
    assert {test[0] for test in probes} == {"CMD"}


IN_NET: Final = {name: one for name, one in COMPOSE["services"].items() if one.get("network_mode") == "service:net"}


@pytest.mark.parametrize("name", IN_NET)
def test_a_container_starts_after_its_network_again_and_ends_when_that_is_gone(name: str) -> None:
    check = IN_NET[name]["healthcheck"]["test"]

    assert IN_NET[name]["depends_on"]["net"] == {"condition": "service_started", "restart": True}
    assert check[:3] == ["CMD", "sh", "-c"]
    assert re.match(r"grep -qv \^Iface /proc/net/route \|\| (kill 1|su postgres -c 'kill -INT 1')", check[3])


def test_one_image_of_this_version_is_pulled_or_else_built_once() -> None:
    built = yaml.safe_load((DOCKER / "build.yaml").read_text(encoding="utf-8"))["services"]

    assert {service["image"] for service in OURS.values()} == {f"${{SIGNAGE_IMAGE:-{images.name('box', version())}}}"}
    assert [name for name, service in COMPOSE["services"].items() if "build" in service] == []
    assert list(built) == ["net"]
    assert (DOCKER / built["net"]["build"]["context"]).resolve() == REPOSITORY


def test_compose_needs_no_file_but_itself_and_the_settings() -> None:
    """Docker makes the folders beside it; `folders` gives them to the image's user, and `setup` fills them."""
    services = COMPOSE["services"]
    beside = {each.split(":")[0] for one in services.values() for each in one.get("volumes", ()) if each[0] == "."}
    given = {each.split(":")[0] for each in services["folders"]["volumes"]}

    assert beside - given == {"./secrets-of"}
    assert services["folders"]["command"][2:] == [each.split(":")[1] for each in services["folders"]["volumes"]]
    assert {name for name in services if "folders" not in before(name)} == {"folders", "net", "gotenberg"}


def before(name: str) -> set[str]:
    """All services that start before this one."""
    waits = COMPOSE["services"][name].get("depends_on", {})
    return set(waits).union(*map(before, waits))


def test_the_unit_starts_the_box_with_the_engine() -> None:
    text = (DOCKER / "signage-box.service").read_text(encoding="utf-8")

    for line in ("PartOf=docker.service", "After=docker.service network-online.target", "Restart=on-failure"):
        assert f"\n{line}\n" in text
    assert "\nExecStart=/usr/bin/docker compose up --detach\n" in text
    assert "\nWantedBy=multi-user.target docker.service\n" in text


def test_memory_is_bounded_and_gotenbergs_as_the_converters() -> None:
    limits = {name: service.get("mem_limit") for name, service in COMPOSE["services"].items()}

    assert {name for name, limit in limits.items() if limit is None} == {"postgres"}
    assert limits["gotenberg"] == f"{COMPONENTS['converter'].memory}g"


@pytest.mark.parametrize("name", OURS)
def test_our_containers_can_change_nothing_but_what_they_are_given(name: str) -> None:
    service = OURS[name]

    root = name == "folders"
    assert service["read_only"] is True
    assert (service["user"], service.get("cap_add", [])) == (("0:0", ["CHOWN"]) if root else ("10001:10001", []))
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileges", service.get("privileged"))


RUN: Final = ["python", "-m", "deploy.box.run"]


@pytest.mark.parametrize("name", OURS)
def test_what_a_container_is_told_are_settings_that_exist_and_none_of_them_a_secret(name: str) -> None:
    told = set(OURS[name].get("environment", {}))

    assert told <= {*BY_NAME, *OF_THE_BOX, *PORTS}
    assert not [setting for setting in told if setting in BY_NAME and BY_NAME[setting].secret]


@pytest.mark.parametrize("name", [name for name, service in OURS.items() if service["command"][:3] == RUN])
def test_each_setting_of_the_reference_reaches_each_container(name: str, tmp_path: Path) -> None:
    given = {setting: f"their {setting}" for setting, one in BY_NAME.items() if not one.secret}
    told = Containers(tmp_path, {"BOX_HOST": "box.test", **given}).environment(name)

    assert {setting for setting in given if told.get(setting) != given[setting]} == {"CONVERTER_URL"}


def test_only_the_doors_are_published_and_only_the_doors_have_the_key() -> None:
    published = {name: service["ports"] for name, service in COMPOSE["services"].items() if "ports" in service}
    mounted = {name for name, service in OURS.items() if "certificates" in str(service.get("volumes", ""))}

    assert list(published) == ["net"]
    assert [port.split(":")[-1] for port in published["net"]] == [
        OURS["gateway"]["environment"]["GATEWAY_PORT"],
        "8883",
    ]
    assert mounted == {"folders", "setup", "broker", "gateway"}


def test_everybody_shares_one_loopback_but_the_converter_sees_nobody() -> None:
    apart = {name for name, service in COMPOSE["services"].items() if service.get("network_mode") != "service:net"}

    assert apart == {"net", "folders", "setup", "gotenberg"}
    assert COMPOSE["services"]["gotenberg"]["networks"] == ["conversions"]
    assert COMPOSE["networks"]["conversions"] == {"internal": True}


def test_gotenberg_is_the_same_here_as_in_the_cloud() -> None:
    here = {flag for flag in COMPOSE["services"]["gotenberg"]["command"] if flag.startswith("--")}
    cloud = set(root().blocks("module")["converter"]["arguments"])

    assert {flag for flag in here if "timeout" not in flag} == {flag for flag in cloud if "timeout" not in flag}
    assert COMPOSE["services"]["gotenberg"]["environment"] == {"CHROMIUM_DISABLE_ROUTES": "true"}
    assert root().blocks("module")["converter"]["environment"]["CHROMIUM_DISABLE_ROUTES"] == "true"
    assert COMPOSE["services"]["gotenberg"]["image"].endswith(":8.36-libreoffice}")


def test_gotenberg_is_given_flags_of_parts_that_its_image_has() -> None:
    """Its LibreOffice image is built without the other modules, and pflag ends the process at an unknown flag."""
    of_the_image = ("--api-", "--libreoffice-", "--webhook-")  # modules of the flags that the project sets
    flags = [flag for flag in COMPOSE["services"]["gotenberg"]["command"] if flag.startswith("--")]

    assert "-libreoffice" in COMPOSE["services"]["gotenberg"]["image"]
    assert "-libreoffice-cloudrun" in root().blocks("variable")["gotenberg_image"]["default"]
    assert [flag for flag in flags if not flag.startswith(of_the_image)] == []
    assert root().blocks("module")["converter"]["command"] == ["/usr/bin/tini", "--", "gotenberg"]


def test_what_gcloud_sends_is_the_images_context_without_what_a_machine_keeps() -> None:
    ignored = (REPOSITORY / ".gcloudignore").read_text(encoding="utf-8").split("\n")
    assert {".*", "!.dockerignore", "*.tfvars", "*.tfstate"} <= set(ignored)
    assert not [source for source in copied() if f"/{source}/" in ignored or source in ignored]


def test_the_door_that_the_image_brings_is_found_and_hides_no_module(tmp_path: Path) -> None:
    """Python prefers a library to a source of the same name."""
    brought = [rest.split()[-1] for word, rest in instructions() if word == "COPY" and rest.startswith("--from=door")]
    for package in ("deploy", "shared"):
        copytree(REPOSITORY / package, tmp_path / package, ignore=ignore_patterns("docker", "gcp", "__pycache__"))
    make = (sys.executable, "-m", "deploy.parts.broker_door", brought[0])
    look = (
        "from deploy.parts import broker_door as one; from pathlib import Path; print(one.library(Path('elsewhere')))"
    )

    subprocess.run(make, cwd=tmp_path, check=True)
    found = subprocess.run((sys.executable, "-c", look), cwd=tmp_path, check=True, capture_output=True, text=True)

    assert [found.stdout.strip()] == [str(tmp_path / name) for name in brought]
