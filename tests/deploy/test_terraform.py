"""deploy/gcp without an account: it parses, its references lead somewhere, and it gives what the code asks for."""

import ast
import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from deploy.local.layout import REPOSITORY
from deploy.local.task_emulator.__main__ import queues
from functions.scheduler_tick.steps import STEPS
from shared import deployment
from shared.commands.operations import ExpiryReport
from shared.commands.outbox.operations import PublishReport
from shared.config import BY_NAME, load
from shared.conversions.rules import timeouts
from shared.errors import ConfigurationError
from shared.recovery.operations import RecoveryReport
from tests.deploy.terraform import GCP, Folder, Reference, folders, root, strings

# What the platform and the libraries read; all others are settings of ours.
NOT_OURS: Final = {"FUNCTION_TARGET", "FUNCTION_SOURCE", "SSL_CERT_FILE", "DASHBOARD_HOST"}
COMPONENTS: Final = {  # module of deploy/gcp -> where its code is, and its entry point
    "api": ("functions/api", "functions/api/main.py"),
    "convert_worker": ("functions/convert_worker", "functions/convert_worker/main.py"),
    "scheduler_tick": ("functions/scheduler_tick", "functions/scheduler_tick/main.py"),
    "bridge": ("bridge", "bridge/main.py"),
}
EVERYBODY: Final = {"service", "main"}

# Who may hold what, and on what: the whole of it. A grant that is not here must be argued for here.
ALLOWED: Final = {
    "api": {
        ("queue", "roles/cloudtasks.enqueuer"),
        ("queue", "roles/cloudtasks.viewer"),  # GET /api/health/ready asks whether the queue exists
        ("account tasks", "roles/iam.serviceAccountUser"),
        ("account api", "roles/iam.serviceAccountTokenCreator"),
        ("bucket", "roles/storage.objectUser"),
        ("secret", "roles/secretmanager.secretAccessor"),
    },
    "convert-worker": {
        ("bucket", "roles/storage.objectUser"),
        ("secret", "roles/secretmanager.secretAccessor"),
        ("run converter", "roles/run.invoker"),
    },
    "scheduler-tick": {
        ("queue", "roles/cloudtasks.enqueuer"),
        ("account tasks", "roles/iam.serviceAccountUser"),
        ("secret", "roles/secretmanager.secretAccessor"),
    },
    "bridge": {("secret", "roles/secretmanager.secretAccessor"), ("project", "roles/monitoring.metricWriter")},
    "mosquitto": {
        ("secret", "roles/secretmanager.secretAccessor"),
        ("project", "roles/artifactregistry.reader"),
        ("project", "roles/logging.logWriter"),
        ("project", "roles/monitoring.metricWriter"),
    },
    "migrations": {("secret", "roles/secretmanager.secretAccessor")},
    "the proxy's agent": {("run dashboard", "roles/run.invoker")},
    "people": {("backend", "roles/iap.httpsResourceAccessor")},
}


def is_defined(folder: Folder, reference: Reference) -> bool:
    match reference.kind:
        case "var":
            return reference.name in folder.blocks("variable")
        case "local":
            return reference.name in folder.locals
        case "module":
            return reference.name in folder.blocks("module") and _has_output(folder, reference)
        case kind:
            return (reference.type, reference.name) in folder.typed(kind)


def _has_output(folder: Folder, reference: Reference) -> bool:
    source = Folder((folder.path / folder.blocks("module")[reference.name]["source"]).resolve())
    return reference.attribute in {"", *source.blocks("output")}


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.path.name)
def test_every_reference_leads_to_something_that_is_declared(folder: Folder) -> None:
    found = list(folder.references())

    assert [reference for reference in found if not is_defined(folder, reference)] == []
    assert found, "no reference was found: the reader sees nothing"


def test_a_reference_to_nothing_is_seen(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'locals {\n  a = "x-${var.gone}"\n  b = google_storage_bucket.gone.name\n'
        "  c = [for s in module.gone.name : s]\n"
        '  d = data.google_project.gone[0].number\n  e = { K = local.gone }\n  f = "var.not_an_expression"\n}\n'
    )
    folder = Folder(tmp_path)

    assert {(found.kind, found.name) for found in folder.references()} == {
        (kind, "gone") for kind in ("var", "resource", "module", "data", "local")
    }
    assert not any(is_defined(folder, found) for found in folder.references())


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.path.name)
def test_nothing_is_declared_that_nobody_uses(folder: Folder) -> None:
    used = {(reference.kind, reference.name) for reference in folder.references()}

    unused_variables = {name for name in folder.blocks("variable") if ("var", name) not in used}
    unused_locals = {name for name in folder.locals if ("local", name) not in used}

    assert unused_variables - {"project_id"} == set()
    assert unused_locals == set()


def test_modules_are_given_what_they_ask_for_and_nothing_else() -> None:
    for name, call in root().blocks("module").items():
        asked = Folder((GCP / call["source"]).resolve()).blocks("variable")
        given = set(call) - {"source", "count", "depends_on", "__is_block__"}
        needed = {variable for variable, body in asked.items() if "default" not in body}
        assert needed <= given <= set(asked), name


def test_it_is_formatted_as_terraform_formats() -> None:
    program = shutil.which("terraform")
    if program is None:
        assert "\t" not in "".join(file.read_text() for file in GCP.rglob("*.tf"))
        return
    asked = [program, "fmt", "-check", "-recursive", str(GCP)]
    assert subprocess.run(asked, capture_output=True, text=True, check=False).stdout == ""


def plain_and_secret(component: str) -> tuple[set[str], set[str]]:
    call = root().blocks("module")[component]
    return root().setting_names(call["environment"]), root().setting_names(call["secrets"])


@pytest.mark.parametrize("component", COMPONENTS)
def test_what_a_component_is_told_are_settings_that_exist(component: str) -> None:
    plain, secret = plain_and_secret(component)

    assert plain - NOT_OURS <= set(BY_NAME)
    assert secret <= set(BY_NAME)


@pytest.mark.parametrize("component", COMPONENTS)
def test_secrets_come_from_secret_manager_and_nothing_else_does(component: str) -> None:
    plain, secret = plain_and_secret(component)

    assert [name for name in plain if name in BY_NAME and BY_NAME[name].secret] == []
    assert [name for name in secret if not BY_NAME[name].secret] == []


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_is_told_all_that_it_cannot_start_without(component: str) -> None:
    required = _required(REPOSITORY / COMPONENTS[component][1])
    plain, secret = plain_and_secret(component)

    assert required
    assert required - plain - secret == set()


def _required(entry_point: Path) -> set[str]:
    """REQUIRED of an entry point, read and not run: it would start."""
    for node in ast.parse(entry_point.read_text(encoding="utf-8")).body:
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        if isinstance(target, ast.Name) and target.id == "REQUIRED":
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            return set(ast.literal_eval(node.value))
    return set()


@pytest.mark.parametrize("component", COMPONENTS)
def test_no_component_is_left_with_an_address_of_its_own_machine(component: str) -> None:
    plain, _ = plain_and_secret(component)
    code = "".join(file.read_text() for file in (REPOSITORY / COMPONENTS[component][0]).rglob("*.py"))
    used = set(re.findall(r'\[\s*"([A-Z_]+)"\s*\]', code))
    if "from_config" in code:
        used |= {"MQTT_URL"}
    local = {name for name in used & set(BY_NAME) if "127.0.0.1" in str(BY_NAME[name].default)}

    assert local - plain == set()


@pytest.mark.parametrize("component", COMPONENTS)
def test_values_that_are_written_down_can_be_parsed(component: str) -> None:
    literal = root().literal_settings(root().blocks("module")[component]["environment"])

    config = load({name: value for name, value in literal.items() if name in BY_NAME})

    assert config["DEPLOYMENT_MODE"] == "cloud"


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_product_starts_with_what_it_is_told(component: str) -> None:
    plain, secret = plain_and_secret(component)
    literal = root().literal_settings(root().blocks("module")[component]["environment"])
    told = {name: literal.get(name) or COMPUTED.get(name, "") for name in plain | secret}
    assert told["DATABASE_URL"]

    deployment.check(load({name: value for name, value in told.items() if name in BY_NAME}), component)

    for name in (plain | secret) & set(COMPUTED):
        without = {key: value for key, value in told.items() if key in BY_NAME and key != name}
        with pytest.raises(ConfigurationError):
            deployment.check(load(without, required=(name,) if BY_NAME[name].default is None else ()), component)


# What Terraform computes, as it comes out: without each one of them the product must refuse to start.
COMPUTED: Final = {
    "DATABASE_URL": "postgresql://signage:" + "k3" * 24 + "@10.20.0.3:5432/signage",
    "MQTT_PASSWORD": "k3" * 24,
    "MQTT_URL": "mqtts://mqtt.example.com:8884",
    "QUEUE_URL": "cloudtasks:///projects/p/locations/europe-west1",
    "CONVERT_WORKER_URL": "https://signage-convert-worker-1.europe-west1.run.app",
    "SCHEDULER_TICK_URL": "https://signage-scheduler-tick-1.europe-west1.run.app",
    "CONVERTER_URL": "https://signage-converter-1.europe-west1.run.app",
    "TASKS_SERVICE_ACCOUNT": "signage-tasks@p.iam.gserviceaccount.com",
    "SCHEDULER_SERVICE_ACCOUNT": "signage-scheduler@p.iam.gserviceaccount.com",
    "IAP_AUDIENCE": "/projects/1/global/backendServices/2",
}


def test_no_secret_stands_in_the_state() -> None:
    written = {
        name: body
        for (kind, name), body in root().typed("resource").items()
        if kind == "google_secret_manager_secret_version"
    }

    public = {name for name, body in written.items() if "secret_data" in body}
    assert public == {"broker_ca", "broker_certificate"}, "these two are no secrets"
    assert all("secret_data_wo" in body for name, body in written.items() if name not in public)
    assert "password" not in root().typed("resource")["google_sql_user", "this"]
    assert not [kind for kind, _ in root().typed("resource") if kind in {"random_password", "tls_private_key"}]


def grants() -> dict[str, set[tuple[str, str]]]:
    """Who holds which role on what, as the files say it; for_each over roles is followed."""
    found: dict[str, set[tuple[str, str]]] = {}
    for folder in folders():
        for (kind, _), body in folder.typed("resource").items():
            if "_iam_" in kind:
                for role in _roles(body):
                    found.setdefault(_member(body), set()).add((_target(kind, body), role))
    return found


def _roles(body: dict[str, Any]) -> list[str]:
    role = str(body["role"])
    return re.findall(r"roles/[\w.]+", str(body["for_each"])) if role == "${each.key}" else [role]


def _member(body: dict[str, Any]) -> str:
    member = str(body["member"])
    account = re.fullmatch(r'\$\{google_service_account\.of\["([\w-]+)"\]\.member\}', member)
    if account:
        return account[1]
    return {"${each.value[1]}": "people"}.get(member, "the proxy's agent" if "gcp-sa-iap" in member else member)


def _target(kind: str, body: dict[str, Any]) -> str:
    if kind == "google_service_account_iam_member":
        return "account " + str(re.findall(r'of\["([\w-]+)"\]', str(body["service_account_id"]))[0])
    if kind == "google_cloud_run_v2_service_iam_member":
        return "run " + str(re.findall(r"module\.(\w+)", str(body["name"]))[0])
    return {
        "google_cloud_tasks_queue_iam_member": "queue",
        "google_storage_bucket_iam_member": "bucket",
        "google_secret_manager_secret_iam_member": "secret",
        "google_project_iam_member": "project",
        "google_iap_web_backend_service_iam_member": "backend",
    }[kind]


def test_nobody_holds_a_grant_that_is_not_on_the_list_and_none_is_listed_in_vain() -> None:
    assert grants() == ALLOWED


def test_each_component_runs_as_an_account_of_its_own() -> None:
    accounts = [str(call.get("service_account")) for call in root().blocks("module").values()] + [
        str(_job()["service_account"])
    ]

    assert len(set(accounts)) == len(accounts)
    assert all("google_service_account.of" in account for account in accounts)


def _job() -> dict[str, Any]:
    job = root().typed("resource")["google_cloud_run_v2_job", "migrations"]
    task: dict[str, Any] = job["template"][0]["template"][0]
    return task


def test_a_service_reads_only_the_secrets_that_it_is_given() -> None:
    reads = {
        name.removesuffix("_reads"): set(
            re.findall(r'(?:generated\[\\?"|in \[")([\w-]+)|"(mqtt-[\w-]+|signing-key)', str(body))
        )
        for (kind, name), body in root().typed("resource").items()
        if kind == "google_secret_manager_secret_iam_member"
    }

    passwords = {who: {a or b for a, b in found} & MQTT_PASSWORDS for who, found in reads.items()}
    assert passwords == {
        "api": {"mqtt-api-password"},
        "scheduler_tick": {"mqtt-scheduler-password"},
        "bridge": {"mqtt-bridge-password"},
        "convert_worker": set(),
        "migrations": set(),
        "mosquitto": set(),  # all three, by the map in broker.tf: it makes the broker's password file of them
    }


MQTT_PASSWORDS: Final = {"mqtt-api-password", "mqtt-bridge-password", "mqtt-scheduler-password"}


def test_the_queues_in_the_cloud_are_the_queues_on_one_machine() -> None:
    queue = root().typed("resource")["google_cloud_tasks_queue", "of"]
    retry, rate = queue["retry_config"][0], queue["rate_limits"][0]
    at_once = root().locals["queues"]

    assert set(at_once) - {"__is_block__"} == set(queues(2))
    for name, here in queues(2).items():
        assert retry["max_attempts"] == here.retry_config.max_attempts
        assert retry["min_backoff"] == f"{here.retry_config.min_backoff.seconds}s"
        assert retry["max_backoff"] == f"{here.retry_config.max_backoff.seconds}s"
        assert retry["max_doublings"] == here.retry_config.max_doublings
        assert rate["max_dispatches_per_second"] == here.rate_limits.max_dispatches_per_second
        if name != "conversions":
            assert at_once[name] == here.rate_limits.max_concurrent_dispatches
    assert at_once["conversions"] == "${var.conversions_at_once}"


def test_the_timeouts_of_a_conversion_are_the_ladder_of_the_rules() -> None:
    ladder = timeouts(timedelta(0))
    worker, converter = root().blocks("module")["convert_worker"], root().blocks("module")["converter"]

    above = {"function": worker, "request": converter}
    for step, call in above.items():
        seconds = int(getattr(ladder, step).total_seconds())
        assert call["timeout_seconds"] == f"${{var.conversion_deadline_seconds + {seconds}}}"
    assert "--api-timeout=${var.conversion_deadline_seconds}s" in converter["arguments"]


def test_the_tick_comes_each_minute_with_an_identity_and_is_not_repeated() -> None:
    job = root().typed("resource")["google_cloud_scheduler_job", "tick"]
    target = job["http_target"][0]

    assert job["schedule"] == "* * * * *"
    assert job["retry_config"][0]["retry_count"] == 0
    assert target["uri"] == target["oidc_token"][0]["audience"] == "${local.scheduler_tick_url}"
    assert BY_NAME["TICK_SECONDS"].default == 60


def test_two_bridges_are_always_there_with_their_cpu_and_a_probe() -> None:
    bridge = root().blocks("module")["bridge"]
    environment = root().literal_settings(bridge["environment"])

    assert (bridge["min_instances"], bridge["max_instances"], bridge["cpu_while_idle"]) == (2, 2, True)
    assert bridge["probe_path"] == "/healthz"
    assert environment["BRIDGE_HEALTH_HOST"] == "0.0.0.0"
    service = Folder(GCP / "modules" / "run_service")
    assert environment["BRIDGE_HEALTH_PORT"] == str(service.blocks("variable")["port"]["default"])


def test_whoever_verifies_tokens_itself_gets_them_with_their_signature() -> None:
    calls = root().blocks("module")
    verifies = {name for name, call in calls.items() if call.get("checks_callers_itself") is True}
    ingress = {
        name: call.get("ingress", "INGRESS_TRAFFIC_INTERNAL_ONLY")
        for name, call in calls.items()
        if name != "mosquitto"
    }

    assert verifies == {"api", "convert_worker", "scheduler_tick"}
    assert {name for name, from_where in ingress.items() if from_where != "INGRESS_TRAFFIC_INTERNAL_ONLY"} == {
        "api",
        "dashboard",
    }
    assert "INGRESS_TRAFFIC_ALL" not in str(calls)


def test_the_converter_has_the_flags_of_the_design() -> None:
    converter = root().blocks("module")["converter"]

    assert set(converter["arguments"]) >= {
        "--libreoffice-restart-after=1",
        "--libreoffice-max-queue-size=2",
        "--libreoffice-deny-private-ips=true",
        "--libreoffice-deny-public-ips=true",
        "--api-disable-download-from=true",
        "--webhook-disable=true",
        "--chromium-disable-routes=true",
    }
    assert root().blocks("variable")["gotenberg_image"]["default"].endswith("8.36-libreoffice-cloudrun")


def test_nothing_new_serves_before_the_migrations_have_run() -> None:
    calls = root().blocks("module")
    for name in COMPONENTS:
        assert "${terraform_data.migrated}" in calls[name]["depends_on"], name
    run = root().typed("resource")["terraform_data", "migrated"]
    assert "${var.image}" in run["triggers_replace"]
    assert run["provisioner"][0]["local-exec"]["command"].endswith("--wait")


def test_machines_reach_the_api_without_the_proxy_and_people_nothing_without_it() -> None:
    resources = root().typed("resource")
    people = resources["google_compute_backend_service", "people"]
    machines = resources["google_compute_backend_service", "machines"]
    routes = resources["google_compute_url_map", "this"]

    assert people["iap"][0]["enabled"] is True
    assert "iap" not in machines
    assert routes["default_service"] == '${google_compute_backend_service.people["dashboard"].id}'
    to_machines = [matcher for matcher in routes["path_matcher"] if "machines" in matcher["default_service"]]
    assert [matcher["name"] for matcher in to_machines] == ["machines"]


def test_alerts_read_fields_that_the_tick_writes() -> None:
    written = {
        "expire": ExpiryReport.__dataclass_fields__,
        "recover": RecoveryReport.__dataclass_fields__,
        "publish": PublishReport.__dataclass_fields__,
        "conversions": {"enqueued", "left"},
    }
    fields = re.findall(r"jsonPayload\.did\.(\w+)\.(\w+)", "\n".join(strings(root().files["monitoring.tf"])))

    assert len(set(fields)) >= 4
    assert all(step in STEPS and field in written[step] for step, field in fields)


def test_every_alert_of_the_design_is_there_and_reads_metrics_that_are() -> None:
    monitoring = root().locals
    alerts, counted = monitoring["alerts"], monitoring["log_metrics"]
    asked = set(re.findall(r"user_signage_(\w+?)(?:_sum)?\{", "\n".join(strings(alerts))))

    assert set(alerts) == {
        *("tick_missing", "canary_old", "outbox_old", "broker_dropped", "dead_letters", "conversion_old"),
        *("stale_jump", "recovery_storm", "auth_burst", "disk"),
    }
    assert asked <= set(counted)
    assert set(counted) <= asked, "counted for nothing"
    from_bridge = set(
        re.findall(r"signage_bridge_(\w+)", "\n".join(strings(monitoring["alerts"] | monitoring["charts"])))
    )
    code = (REPOSITORY / "bridge" / "metrics.py").read_text(encoding="utf-8")
    assert all(f'"{name.removesuffix("_total")}"' in code for name in from_bridge)


def test_the_brokers_machine_is_told_everything_that_its_template_asks_for() -> None:
    folder = GCP / "modules" / "mosquitto"
    template = (folder / "cloud_init.yaml").read_text(encoding="utf-8")
    asked = set(re.findall(r"\$\{(\w+)\}", template)) | {"secrets"}
    asked -= {"file", "secret"}  # of the loop

    metadata = Folder(folder).typed("resource")["google_compute_instance", "this"]["metadata"]
    given = set(re.findall(r"(\w+) = ", metadata["user-data"]))

    assert asked == given
    document = yaml.safe_load(re.sub(r"%\{[^}]*\}", "", template))
    units = [file for file in document["write_files"] if file["path"].endswith(".service")]
    assert len(units) == 3
    assert all("--cap-drop=ALL" in unit["content"] and "--read-only" in unit["content"] for unit in units)


def test_components_that_are_modules_have_files_in_four_paragraphs() -> None:
    for name in ("api", "convert_worker", "scheduler_tick", "bridge", "converter", "dashboard", "migrations", "broker"):
        text = (GCP / f"{name}.tf").read_text(encoding="utf-8")
        places = [text.find(f"# {word}") for word in ("Identity", "Grants", "Service", "Trigger")]
        assert -1 not in places, name
        assert places == sorted(places), name
