"""The services in the cloud equal those of one machine: queues, timeouts, ticks, doors, flags and alerts."""

import re
from datetime import timedelta
from fnmatch import fnmatchcase

import yaml

from deploy.parts.gateway import BROWSER_CLIENT
from deploy.parts.layout import REPOSITORY
from deploy.parts.task_queue.__main__ import queues
from displays.client.screenshots import PATH as SCREENSHOTS
from functions.scheduler_tick.steps import STEPS
from shared.commands.operations import ExpiryReport
from shared.commands.outbox.operations import PublishReport
from shared.config import BY_NAME
from shared.conversions.rules import timeouts
from shared.overview.rules import TICK
from shared.recovery.operations import RecoveryReport
from tests.deploy.cloud_rules import OF_DISPLAYS, OF_STRANGERS
from tests.deploy.terraform import COMPONENTS, GCP, Folder, root, strings
from tests.rules.test_dashboard_modules import DASHBOARD, TRANSLATED, fetched_with


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


def test_three_functions_are_one_image_and_who_touches_files_has_the_media_volume() -> None:
    calls = root().blocks("module")
    functions = {name: root().literal_settings(calls[name]["environment"]) for name in COMPONENTS if name != "bridge"}

    assert {calls[name]["image"] for name in COMPONENTS} == {"${var.image}"}
    for name, told in functions.items():
        assert (told["FUNCTION_TARGET"], told["FUNCTION_SOURCE"]) == (name, f"/app/{COMPONENTS[name][1]}")
        assert (REPOSITORY / COMPONENTS[name][1]).exists()
    assert {name for name, call in calls.items() if "media_bucket" in call} == {"api", "convert_worker"}
    assert root().locals["media_root"] == str(BY_NAME["MEDIA_ROOT"].default) == "/server/media"


def test_the_tick_comes_each_minute_with_an_identity_and_is_not_repeated() -> None:
    job = root().typed("resource")["google_cloud_scheduler_job", "tick"]
    target = job["http_target"][0]

    assert job["schedule"] == "* * * * *"
    assert job["retry_config"][0]["retry_count"] == 0
    assert target["uri"] == target["oidc_token"][0]["audience"] == "${local.scheduler_tick_url}"
    assert timedelta(minutes=1) == TICK


def test_two_bridges_are_always_there_with_their_cpu_and_a_probe() -> None:
    bridge = root().blocks("module")["bridge"]
    environment = root().literal_settings(bridge["environment"])

    always = "${local.bridge_instances}"
    assert (bridge["min_instances"], bridge["max_instances"], bridge["cpu_while_idle"]) == (always, always, True)
    assert root().locals["bridge_instances"] == 2
    assert bridge["probe_path"] == "/healthz"
    service = Folder(GCP / "modules" / "run_service")
    assert environment["BRIDGE_HEALTH_PORT"] == str(service.blocks("variable")["port"]["default"])


def test_a_shard_keeps_to_topics_and_logins_of_its_own() -> None:
    """tests/bridge/test_shards.py shows with a real broker that this is enough, and that a shared login is not."""
    calls, names = root().blocks("module"), root().locals
    for name in ("api", "bridge", "scheduler-tick"):
        user = f'MQTT_USERNAME = "${{local.login_prefix}}${{local.components["{name}"].user}}"'
        assert user in calls[name.replace("-", "_")]["environment"]
    assert names["login_prefix"] == '${local.is_shard ? "${var.shard}-" : ""}'
    assert "MQTT_TOPIC_ROOT = local.topic_root" in names["common_environment"]
    assert calls["mosquitto"]["topic_root"] == "${local.topic_root}"
    assert names["shard_environment"] == '${local.is_shard ? {CLIENT_AUTO_REGISTER = "false"} : {}}'


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
        "--libreoffice-max-queue-size=1",
        "--libreoffice-deny-private-ips=true",
        "--libreoffice-deny-public-ips=true",
        "--api-disable-download-from=true",
        "--webhook-disable=true",
    }
    assert root().blocks("variable")["gotenberg_image"]["default"].endswith("8.36-libreoffice-cloudrun")


def test_nothing_new_serves_before_the_migrations_have_run() -> None:
    calls = root().blocks("module")
    for name in COMPONENTS:
        assert "${terraform_data.migrated}" in calls[name]["depends_on"], name
    run = root().typed("resource")["terraform_data", "migrated"]
    assert "${var.image}" in run["triggers_replace"]
    assert "${google_secret_manager_secret_version.database_role_passwords.version}" in run["triggers_replace"]
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


def test_a_display_finds_at_the_peoples_name_what_it_asks_a_gateway_for() -> None:
    """The dashboard shows displays that name. cloud_rules.py holds that these paths are without the proxy there."""
    pages = {f"/display/{file.name}" for file in BROWSER_CLIENT.iterdir() if file.suffix in {".js", ".css", ".html"}}
    asked = {"/api/enroll", SCREENSHOTS, f"{SCREENSHOTS}/1", "/display/", "/display/install.sh", "/mqtt", *pages}

    led = {path for path in asked for rule in OF_DISPLAYS if fnmatchcase(path, rule)}

    assert asked - led == set()
    assert 'fetch("/api/enroll"' in (BROWSER_CLIENT / "client.js").read_text(encoding="utf-8")


def test_a_stranger_finds_at_the_peoples_name_what_the_status_page_asks_for() -> None:
    """cloud_rules.py holds that these paths are without the proxy there."""
    page = (DASHBOARD / "status.html").read_text(encoding="utf-8")
    files = {*re.findall(r'(?:href|src)="([^"]+)"', page), "status.html"}
    modules = {str(path.relative_to(DASHBOARD)) for path in fetched_with(DASHBOARD / "status.js") | TRANSLATED}
    asked = {"/api/status", *(f"/{name}" for name in files | modules)}

    led = {path for path in asked for rule in OF_STRANGERS if fnmatchcase(path, rule)}

    assert asked - led == set()
    assert {"/status.js", "/icon.svg", "/views/status_page.js", "/lib/words/de/status_page.js"} <= asked
    assert 'fetch("/api/status"' in (DASHBOARD / "lib" / "api" / "status_page.js").read_text(encoding="utf-8")


def test_the_door_for_browsers_sees_no_password_of_a_service() -> None:
    template = (GCP / "modules" / "mosquitto" / "cloud_init.yaml").read_text(encoding="utf-8")
    [unit] = [part for part in template.split("  - path: ") if part.startswith("/etc/systemd/system/signage-browsers")]
    mounts = re.findall(r"--volume=(\S+):/\S+:ro", unit)

    assert mounts == [f"/run/signage/secrets/broker_{name}" for name in ("certificate", "key")]
    assert unit.count("--volume=") == 2


def test_alerts_read_fields_that_the_tick_writes() -> None:
    written = {
        "expire": ExpiryReport.__struct_fields__,
        "recover": RecoveryReport.__struct_fields__,
        "publish": PublishReport.__struct_fields__,
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
        "messages_refused",
        *("stale_jump", "recovery_storm", "auth_burst", "disk", "tick_failing", "not_told"),
        *("broker_crashed", "certificate_old", "certificate_ending"),
    }
    assert asked <= set(counted)
    assert set(counted) <= asked, "counted for nothing"
    from_bridge = set(
        re.findall(r"signage_bridge_(\w+)", "\n".join(strings(monitoring["alerts"] | monitoring["charts"])))
    )
    code = (REPOSITORY / "bridge" / "probes.py").read_text(encoding="utf-8")
    assert all(f'"{name.removesuffix("_total")}"' in code for name in from_bridge)


def test_the_brokers_machine_is_told_everything_that_its_template_asks_for() -> None:
    folder = GCP / "modules" / "mosquitto"
    template = (folder / "cloud_init.yaml").read_text(encoding="utf-8")
    asked = set(re.findall(r"(?<!\$)\$\{(\w+)\}", template)) | {"secrets"}
    asked -= {"file", "secret"}  # of the loop

    metadata = Folder(folder).typed("resource")["google_compute_instance", "this"]["metadata"]
    given = set(re.findall(r"(\w+) = ", metadata["user-data"]))

    assert asked == given
    document = yaml.safe_load(re.sub(r"%\{[^}]*\}", "", template))
    units = [file for file in document["write_files"] if "docker run" in file["content"]]
    assert len(units) == 4
    assert all("--cap-drop=ALL" in unit["content"] and "--read-only" in unit["content"] for unit in units)


def test_components_that_are_modules_have_files_in_four_paragraphs() -> None:
    for name in ("api", "convert_worker", "scheduler_tick", "bridge", "converter", "dashboard", "migrations", "broker"):
        text = (GCP / f"{name}.tf").read_text(encoding="utf-8")
        places = [text.find(f"# {word}") for word in ("Identity", "Grants", "Service", "Trigger")]
        assert -1 not in places, name
        assert places == sorted(places), name
