"""The cloud after its first day: the first apply's alerts, newer machine images, upgrades, room to grow, and costs."""

import re
import subprocess
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.deploy.connections import documented
from tests.deploy.terraform import GCP, Folder, root

MOSQUITTO: Final = Folder(GCP / "modules" / "mosquitto")
OLD, NEW = "registry.example/box@sha256:old", "registry.example/box@sha256:new"


def written(path: str) -> str:
    """The content that cloud-init writes to this path, without Terraform's escapes."""
    template = (MOSQUITTO.path / "cloud_init.yaml").read_text(encoding="utf-8")
    plain = re.sub(r"%\{[^}]*\}", "", template).replace("$${", "${")
    [found] = [file["content"] for file in yaml.safe_load(plain)["write_files"] if file["path"] == path]
    return str(found)


def unit(name: str) -> str:
    return written(f"/etc/systemd/system/{name}")


def test_alerts_are_made_before_what_they_ask_for_has_ever_been_measured() -> None:
    [condition] = root().typed("resource")["google_monitoring_alert_policy", "of"]["conditions"]

    assert condition["condition_prometheus_query_language"][0]["disable_metric_validation"] is True


def test_a_newer_machine_image_makes_no_other_machine() -> None:
    machine = MOSQUITTO.typed("resource")["google_compute_instance", "this"]

    assert "google_compute_image.cos" in machine["boot_disk"][0]["initialize_params"][0]["image"]
    assert "boot_disk" in str(machine["lifecycle"][0]["ignore_changes"])


def test_an_oauth_client_set_by_hand_is_left() -> None:
    """But the proxy itself is restored: Terraform enables it again if a person disabled it."""
    backend = root().typed("resource")["google_compute_backend_service", "people"]
    ignored = str(backend["lifecycle"][0]["ignore_changes"])

    assert backend["iap"][0]["enabled"] is True
    assert "iap[0].oauth2_client_id" in ignored
    assert "iap[0].oauth2_client_secret" in ignored
    assert "enabled" not in ignored


def test_the_subnetwork_has_two_addresses_for_each_instance_twice() -> None:
    """For the hundred instances of the documentation, while a revision is replaced; Google reserves four addresses."""
    network = ip_network(root().typed("resource")["google_compute_subnetwork", "services"]["ip_cidr_range"])
    beside = 8 + 2 + 2 + 3 + 1  # worker, tick, bridge, migrations and jobs, broker

    assert network.num_addresses - 4 > 2 * 2 * (documented().api_max_instances + beside)


def test_the_sidecar_is_bounded() -> None:
    service = Folder(GCP / "modules" / "run_service").typed("resource")["google_cloud_run_v2_service", "this"]
    [sidecar] = [block["containers"] for block in service["template"][0]["dynamic"] if "containers" in block]

    assert set(sidecar["content"][0]["resources"][0]["limits"]) - {"__is_block__"} == {"cpu", "memory"}


def test_without_tls_people_are_shown_the_way_and_the_api_is_refused_on_every_name() -> None:
    resources = root().typed("resource")
    plain = resources["google_compute_url_map", "to_https"]
    refusing = "${google_compute_backend_service.plain.id}"

    assert plain["default_service"] == refusing
    assert "default_url_redirect" not in plain
    [people] = plain["path_matcher"]
    assert people["default_url_redirect"][0]["https_redirect"] is True
    assert [(rule["paths"], rule["service"]) for rule in people["path_rule"]] == [(["/api", "/api/*"], refusing)]
    assert [host["hosts"] for host in plain["host_rule"]] == [["${var.people_host}"]]
    assert "security_policy.plain.id" in resources["google_compute_backend_service", "plain"]["security_policy"]
    [rule] = resources["google_compute_security_policy", "plain"]["rule"]
    assert (rule["action"], rule["match"][0]["config"][0]["src_ip_ranges"]) == ("deny(403)", ["*"])


def test_whoever_connects_to_the_database_looks_at_its_certificate() -> None:
    """Each database address in Terraform names the certificate authority of its instance."""
    addresses = re.findall(r'"(postgresql://.*)"$', "\n".join(f.read_text() for f in GCP.glob("*.tf")), re.MULTILINE)
    trust = root().locals["database_trust"]

    assert len(addresses) >= 2
    assert all(address.endswith("${local.database_trust}") for address in addresses)
    assert "?sslmode=verify-ca&sslrootcert=base64:" in trust
    assert "google_sql_database_instance.this.server_ca_cert[0].cert" in trust


def test_each_public_name_is_asked_from_outside_by_tls_and_somebody_is_told() -> None:
    resources = root().typed("resource")
    doors = root().locals["doors"]
    check = resources["google_monitoring_uptime_check_config", "of"]
    told = resources["google_monitoring_alert_policy", "door"]

    assert {door["host"] for name, door in doors.items() if name != "__is_block__"} == {
        "${var.people_host}",
        "${var.machines_host}",
    }
    assert (check["http_check"][0]["use_ssl"], check["http_check"][0]["validate_ssl"]) == (True, True)
    assert check["for_each"] == told["for_each"] == "${local.doors}"
    assert told["notification_channels"]


def test_money_is_watched_only_where_a_billing_account_is_named() -> None:
    budget = root().typed("resource")["google_billing_budget", "this"]

    assert budget["count"] == '${var.billing_account == "" ? 0 : 1}'
    assert root().blocks("variable")["billing_account"]["default"] == ""


def test_the_databases_address_is_seen_by_the_accounts_program_alone() -> None:
    """It contains a password, and the internet can reach the broker."""
    fetched = (MOSQUITTO.path / "cloud_init.yaml").read_text(encoding="utf-8")
    broker, accounts = unit("signage-broker.service"), unit("signage-broker-accounts.service")

    assert '${file == "database_url_broker_accounts" ? "accounts" : "secrets"}/${file}=${secret}' in fetched
    assert "/run/signage/secrets:/var/lib/signage/secrets:ro" in broker
    assert "/run/signage/accounts" not in broker
    assert "/run/signage/accounts:/var/lib/signage/secrets:ro" in accounts
    assert "/run/signage/secrets" not in accounts


def test_the_machine_is_told_its_image_where_it_looks_and_only_after_the_migrations() -> None:
    metadata = MOSQUITTO.typed("resource")["google_compute_instance", "this"]["metadata"]
    script = written("/etc/signage/take_image.sh")
    template = (MOSQUITTO.path / "cloud_init.yaml").read_text(encoding="utf-8")

    assert metadata["signage-image"] == "${var.image}"
    assert "/instance/attributes/signage-image" in script
    assert template.count("${image}") == 1, "the units take it from the file"
    assert "${terraform_data.migrated}" in root().blocks("module")["mosquitto"]["depends_on"]
    assert "signage-image.timer" in template.partition("runcmd:")[2]
    for name in ("signage-secrets", "signage-broker", "signage-broker-accounts"):
        text = unit(f"{name}.service")
        assert "EnvironmentFile=/etc/signage/image" in text
        assert "${SIGNAGE_IMAGE} python" in text
        assert name == "signage-secrets" or "Requires=signage-secrets.service" in text, "a restart goes on to it"


Machine = Callable[..., tuple[int, str, str]]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Runs the broker's machine with fake curl, docker and systemctl. Returns (exit code, actions, the file)."""
    script, file, done = tmp_path / "take_image.sh", tmp_path / "image", tmp_path / "done"
    script.write_text(written("/etc/signage/take_image.sh"), encoding="utf-8")

    def run(named: str | None, running: str | None, noted: str = OLD, pull: int = 0) -> tuple[int, str, str]:
        programs: dict[str, str] = {
            "curl": "exit 22" if named is None else f"printf '%s' '{named}'",
            "docker": f"""case "$1" in
                inspect) {"exit 1" if running is None else f"echo '{running}'"} ;;
                pull) echo "pull $3" >> {done}; exit {pull} ;;
                esac""",
            "systemctl": f'echo "$*" >> {done}',
        }
        for name, text in programs.items():
            (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
            (tmp_path / name).chmod(0o755)
        file.write_text(f"SIGNAGE_IMAGE={noted}\n", encoding="utf-8")
        done.write_text("", encoding="utf-8")
        asked = ["/bin/bash", str(script), str(file)]
        code = subprocess.run(asked, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=False)
        return code.returncode, done.read_text(encoding="utf-8"), file.read_text(encoding="utf-8").strip()

    return run


TAKEN: Final = (0, f"pull {NEW}\nrestart signage-secrets.service\n", f"SIGNAGE_IMAGE={NEW}")


@pytest.mark.parametrize(
    ("machine_is", "comes"),
    [
        pytest.param({"named": OLD, "running": OLD}, (0, "", f"SIGNAGE_IMAGE={OLD}"), id="nothing is new"),
        pytest.param({"named": NEW, "running": OLD}, TAKEN, id="another is named"),
        pytest.param({"named": NEW, "running": None}, TAKEN, id="another is named while nothing runs"),
        pytest.param({"named": NEW, "running": OLD, "noted": NEW}, TAKEN, id="cut off before the restart"),
        pytest.param(
            {"named": NEW, "running": None, "noted": NEW}, (0, "", f"SIGNAGE_IMAGE={NEW}"), id="it is just starting"
        ),
        pytest.param({"named": None, "running": OLD}, (22, "", f"SIGNAGE_IMAGE={OLD}"), id="nobody says which"),
        pytest.param(
            {"named": NEW, "running": OLD, "pull": 1}, (1, f"pull {NEW}\n", f"SIGNAGE_IMAGE={OLD}"), id="not to be had"
        ),
    ],
)
def test_the_machine_takes_the_image_that_is_named(machine: Machine, machine_is: dict[str, Any], comes: Any) -> None:
    assert machine(**machine_is) == comes
