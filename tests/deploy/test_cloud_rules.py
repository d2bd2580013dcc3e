"""Each rule over plans of deploy/gcp detects its fault: in a plan of Terraform with one change."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy import cloud_rules as rules
from tests.deploy.cloud_plan import Plan, everything

WRITTEN: Final = Path(__file__).parent / "cloud_plan.json"  # the example plan, reduced to what the rules read

SERVICE: Final = "module.{}.google_cloud_run_v2_service.this"
API, WORKER, BRIDGE, CONVERTER = (SERVICE.format(name) for name in ("api", "convert_worker", "bridge", "converter"))
DATABASE: Final = "google_sql_database_instance.this"
BUCKET: Final = "google_storage_bucket.media"
MACHINE: Final = "module.mosquitto[0].google_compute_instance.this"
FIREWALL: Final = "module.mosquitto[0].google_compute_firewall"
ROUTES: Final = "google_compute_url_map.this"
PEOPLES: Final = "path_matcher.0"
PEOPLE: Final = 'google_compute_backend_service.people["{}"]'
DOOR: Final = "google_compute_backend_service.browsers[0]"
MACHINES: Final = "projects/my-project/global/backendServices/signage-machines"
METRICS: Final = "google_project_iam_member.bridge_writes_metrics"
PROBE: Final = "template.0.containers.0.liveness_probe.0"
REACHED, KEPT = "settings.0.ip_configuration.0", "settings.0.backup_configuration.0"
ADDRESS: Final = "DATABASE_URL.value_source.0.secret_key_ref.0.secret"
GONE: Final = ""

BROKEN: Final = [
    (rules.the_whole_is_there, SERVICE.format("dashboard"), GONE, None, "no service dashboard"),
    (rules.the_whole_is_there, DATABASE, GONE, None, "no sql_database_instance"),
    (rules.nothing_is_for_everybody, METRICS, "member", "allUsers", "project: roles/monitoring.metricWriter"),
    (rules.nothing_is_for_everybody, METRICS, "member", "allAuthenticatedUsers", "allAuthenticatedUsers"),
    (rules.nothing_is_for_everybody, CONVERTER, "invoker_iam_disabled", True, "converter asks no caller"),
    (rules.nothing_is_for_everybody, API, "invoker_iam_disabled", False, "api never sees"),
    (rules.nothing_is_for_everybody, BUCKET, "public_access_prevention", "inherited", "made public"),
    (rules.nothing_is_for_everybody, BUCKET, "uniform_bucket_level_access", False, "made public"),
    (rules.services_are_called_from_inside_or_by_the_load_balancer, API, "ingress", "INGRESS_TRAFFIC_ALL", "api: "),
    (
        rules.services_are_called_from_inside_or_by_the_load_balancer,
        BRIDGE,
        "ingress",
        "INGRESS_TRAFFIC_ALL",
        "bridge: ",
    ),
    (rules.the_internet_finds_two_doors, "google_compute_global_forwarding_rule.https", "port_range", "8080", "8080"),
    (
        rules.the_internet_finds_two_doors,
        f"{FIREWALL}.services",
        "source_ranges",
        ["0.0.0.0/0"],
        "signage-broker-services",
    ),
    (rules.the_internet_finds_two_doors, f"{FIREWALL}.services", "source_ranges", [], "signage-broker-services"),
    (rules.the_internet_finds_two_doors, f"{FIREWALL}.displays", "allow.0.ports", ["8883", "22"], "8883, 22"),
    (rules.the_internet_finds_two_doors, f"{FIREWALL}.displays", "allow.0.ports", [], "every port"),
    (rules.the_internet_finds_two_doors, f"{FIREWALL}.browsers", "source_ranges.1", "0.0.0.0/0", "-broker-browsers"),
    (
        rules.people_pass_the_proxy_and_displays_do_not,
        ROUTES,
        f"{PEOPLES}.default_service",
        MACHINES,
        "every other path",
    ),
    (rules.people_pass_the_proxy_and_displays_do_not, ROUTES, "default_service", MACHINES, "every other name"),
    (rules.people_pass_the_proxy_and_displays_do_not, ROUTES, f"{PEOPLES}.path_rule", [], "no display comes to /mqtt"),
    (rules.people_pass_the_proxy_and_displays_do_not, ROUTES, f"{PEOPLES}.path_rule", [], "no stranger comes to /lib/"),
    (rules.people_pass_the_proxy_and_displays_do_not, PEOPLE.format("api"), "iap.0.enabled", False, "/api/* is open"),
    (
        rules.people_pass_the_proxy_and_displays_do_not,
        PEOPLE.format("dashboard"),
        "iap",
        [],
        "every other path is open",
    ),
    (rules.a_browsers_connection_is_encrypted_and_lasts, DOOR, "protocol", "HTTP", "reached by HTTP"),
    (rules.a_browsers_connection_is_encrypted_and_lasts, DOOR, "timeout_sec", 30, "ends after 30 s"),
    (rules.a_browsers_connection_is_encrypted_and_lasts, DOOR, "health_checks", [], "nobody asks"),
    (rules.a_browsers_connection_is_encrypted_and_lasts, DOOR, GONE, None, "no door"),
    (rules.the_internet_finds_two_doors, MACHINE, "name", "another", "another has a public address"),
    (rules.the_database_is_reached_inside_and_encrypted, DATABASE, f"{REACHED}.ipv4_enabled", True, "public"),
    (rules.the_database_is_reached_inside_and_encrypted, DATABASE, f"{REACHED}.private_network", None, "public"),
    (rules.the_database_is_reached_inside_and_encrypted, DATABASE, f"{REACHED}.ssl_mode", None, "plain"),
    (rules.whoever_works_is_not_taken_for_dead, CONVERTER, f"{PROBE}.http_get.0.path", "/health", "not for /version"),
    (rules.whoever_works_is_not_taken_for_dead, BRIDGE, f"{PROBE}.failure_threshold", 3, "bridge is given less"),
    (rules.whoever_works_is_not_taken_for_dead, API, f"{PROBE}.period_seconds", 5, "api is given less"),
    (rules.cloud_tasks_waits_for_the_longest_deck, WORKER, "template.0.timeout", "120s", "the worker's is 120s"),
    (rules.cloud_tasks_waits_for_the_longest_deck, CONVERTER, "template.0.timeout", "120s", "the converter's is 120s"),
    (
        rules.cloud_tasks_waits_for_the_longest_deck,
        CONVERTER,
        "template.0.containers.0.args.0",
        "--api-timeout=300s",
        "the converter's own limit is 300s",
    ),
    (
        rules.cloud_tasks_waits_for_the_longest_deck,
        WORKER,
        "CONVERSION_DEADLINE_SECONDS.value",
        "1721",
        "a task waits longer than Cloud Tasks",
    ),
    (rules.each_account_may_do_what_is_listed, METRICS, "role", "roles/editor", "bridge has roles/editor on project"),
    (rules.each_account_may_do_what_is_listed, METRICS, GONE, None, "bridge lacks"),
    (rules.each_account_may_do_what_is_listed, METRICS, "member", "user:somebody@example.com", "people has"),
    (rules.each_account_may_do_what_is_listed, METRICS, "type", "google_folder_iam_member", "is not read here"),
    (
        rules.each_account_may_do_what_is_listed,
        "google_storage_bucket_iam_member.api_media",
        "bucket",
        "another",
        "api has roles/storage.objectUser on bucket another",
    ),
    (
        rules.only_who_is_given_a_secret_may_read_it,
        "google_secret_manager_secret_iam_member.convert_worker_reads",
        "secret_id",
        "projects/p/secrets/signage-signing-key",
        "convert-worker may read signing-key for nothing",
    ),
    (
        rules.only_who_is_given_a_secret_may_read_it,
        "google_secret_manager_secret_iam_member.convert_worker_reads",
        GONE,
        None,
        "convert-worker may not read database-url-convert-worker",
    ),
    (
        rules.each_component_has_a_role_of_its_own_in_the_database,
        WORKER,
        ADDRESS,
        "signage-database-url",
        "convert-worker is given database-url",
    ),
    (
        rules.each_component_has_a_role_of_its_own_in_the_database,
        WORKER,
        ADDRESS,
        "signage-database-url-api",
        "convert-worker is given database-url-api",
    ),
    (rules.the_media_volume_is_where_files_are_touched, BUCKET, "hierarchical_namespace.0.enabled", False, "one step"),
    (rules.the_media_volume_is_where_files_are_touched, BUCKET, "soft_delete_policy", [], "had back"),
    (
        rules.the_media_volume_is_where_files_are_touched,
        API,
        "template.0.volumes",
        [],
        "api has the bucket at no place",
    ),
    (
        rules.the_media_volume_is_where_files_are_touched,
        WORKER,
        "template.0.volumes.0.gcs.0.read_only",
        True,
        "convert-worker has the bucket at no place",
    ),
    (
        rules.the_media_volume_is_where_files_are_touched,
        API,
        "template.0.containers.0.volume_mounts.0.mount_path",
        "/tmp/media",
        "/tmp/media",
    ),
    (rules.nothing_that_keeps_data_is_deleted_by_mistake, DATABASE, "deletion_protection", False, "signage can be"),
    (
        rules.nothing_that_keeps_data_is_deleted_by_mistake,
        DATABASE,
        "settings.0.deletion_protection_enabled",
        False,
        "by others than Terraform",
    ),
    (
        rules.nothing_that_keeps_data_is_deleted_by_mistake,
        MACHINE,
        "deletion_protection",
        False,
        "signage-broker can be",
    ),
    (rules.nothing_that_keeps_data_is_deleted_by_mistake, BUCKET, "force_destroy", True, "with its files"),
    (rules.the_database_can_be_put_back, DATABASE, f"{KEPT}.enabled", False, "no backup"),
    (
        rules.the_database_can_be_put_back,
        DATABASE,
        f"{KEPT}.point_in_time_recovery_enabled",
        None,
        "between two nights",
    ),
    (rules.the_database_can_be_put_back, DATABASE, f"{KEPT}.transaction_log_retention_days", 3, "7 days"),
    (
        rules.the_database_can_be_put_back,
        DATABASE,
        f"{KEPT}.backup_retention_settings.0.retained_backups",
        7,
        "14 nights",
    ),
]


def written() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(WRITTEN.read_text(encoding="utf-8"))
    return document


def broken(address: str, path: str, value: Any) -> Plan:
    """The plan with one value changed, or without one resource. A path may begin with a variable of the service's."""
    document = written()
    root = document["planned_values"]["root_module"]
    [resource] = [one for one in everything(root) if one["address"] == address]
    if path == GONE:
        for module in [root, *root["child_modules"]]:
            module["resources"] = [one for one in module["resources"] if one["address"] != address]
        return Plan(document)
    *steps, last = path.split(".")
    place: Any = resource if last == "type" else resource["values"]
    if path[0].isupper():
        [place] = [one for one in place["template"][0]["containers"][0]["env"] if one["name"] == steps[0]]
        steps = steps[1:]
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    place[int(last) if isinstance(place, list) else last] = value
    return Plan(document)


def test_what_terraform_wrote_breaks_no_rule() -> None:
    plan = Plan(written())

    assert [words for rule in rules.RULES for words in rule(plan)] == []


@pytest.mark.parametrize(
    ("rule", "address", "path", "value", "said"),
    [pytest.param(*case, id=f"{case[0].__name__}: {case[1]} {case[2]} {case[3]}") for case in BROKEN],
)
def test_a_plan_with_one_thing_wrong_breaks_its_rule(
    rule: rules.Rule, address: str, path: str, value: Any, said: str
) -> None:
    plan = broken(address, path, value)

    assert any(said in words for words in rule(plan)), list(rule(plan))


def test_each_rule_is_broken_once_at_least() -> None:
    assert {case[0] for case in BROKEN} == set(rules.RULES)
