"""Rules for every plan of deploy/gcp. The other tests here read the text of deploy/gcp."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Final

from shared.config import BY_NAME
from shared.conversions.rules import timeouts
from tests.deploy.cloud_plan import TARGETS, Plan, Resource
from tests.deploy.cloud_rights import READS_A_SECRET, RIGHTS

Rule = Callable[[Plan], Iterator[str]]

SERVICES: Final = {"api", "bridge", "convert-worker", "converter", "dashboard", "scheduler-tick"}
KINDS: Final = (
    *("cloud_run_v2_job", "compute_global_forwarding_rule", "compute_url_map"),
    *("sql_database_instance", "storage_bucket"),
)
CHECK_CALLERS: Final = {"api", "convert-worker", "scheduler-tick"}  # Cloud Run would remove the signature
OPEN: Final = {"dashboard"}  # its files are no secret
BEHIND_THE_LOAD_BALANCER: Final = {"api", "dashboard"}
OF_DISPLAYS: Final = {"/api/enroll", "/api/display/*", "/display/*", "/mqtt"}  # without Identity-Aware Proxy
OF_STRANGERS: Final = {  # the public status page, as above
    *("/api/status", "/status.html", "/status.js", "/status.css", "/style.css", "/icon.svg"),
    *("/lib/*", "/vendor/*", "/views/*"),
}
OF_THE_LOAD_BALANCER: Final = {"130.211.0.0/22", "35.191.0.0/16"}  # Google's ranges, of its health checks too
TOUCH_FILES: Final = {"api", "convert-worker"}
LIVES: Final = {  # the probe that answers under any load, and the least seconds without an answer before a restart
    "api": ("/api/health/live", 90),
    "bridge": ("/healthz", 600),  # it waits for the database
    "converter": ("/version", 90),  # its /health fails after each deck
}
CLOUD_TASKS_WAITS: Final = timedelta(minutes=30)
EVERYBODY: Final = {"allUsers", "allAuthenticatedUsers"}
INSIDE: Final = re.compile(r"10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.")
LEAST_DAYS, LEAST_BACKUPS = 7, 14
DAY_SECONDS: Final = 86400


def the_whole_is_there(plan: Plan) -> Iterator[str]:
    """The plan has everything that the other rules check: they would hold for missing resources."""
    yield from (f"there is no {kind}" for kind in KINDS if not plan.of(kind))
    yield from (f"there is no service {name}" for name in sorted(SERVICES - set(plan.services)))


def nothing_is_for_everybody(plan: Plan) -> Iterator[str]:
    """No grant to everybody. Cloud Run checks each caller, unless the program does, or has nothing to hide."""
    to_all = [grant for grant in plan.grants if grant.member in EVERYBODY]
    yield from (f"{grant.target}: {grant.role} for {grant.member}" for grant in to_all)
    unasked = {name for name, service in plan.services.items() if service.values["invoker_iam_disabled"]}
    yield from (f"{name} asks no caller" for name in sorted(unasked - CHECK_CALLERS - OPEN))
    yield from (f"{name} never sees its callers' signatures" for name in sorted(CHECK_CALLERS - unasked))
    for bucket in plan.of("storage_bucket"):
        if bucket.values["public_access_prevention"] != "enforced" or not bucket.values["uniform_bucket_level_access"]:
            yield f"files of {bucket.name} may be made public"


def services_are_called_from_inside_or_by_the_load_balancer(plan: Plan) -> Iterator[str]:
    """No service has its own address in the internet."""
    for name, service in plan.services.items():
        from_where = "INTERNAL_LOAD_BALANCER" if name in BEHIND_THE_LOAD_BALANCER else "INTERNAL_ONLY"
        if service.values["ingress"] != f"INGRESS_TRAFFIC_{from_where}":
            yield f"{name}: {service.values['ingress']}"


def the_internet_finds_two_doors(plan: Plan) -> Iterator[str]:
    """Only the load balancer's, and the displays' at the own broker."""
    for rule in plan.of("compute_global_forwarding_rule"):
        if rule.values["port_range"].partition("-")[0] not in {"80", "443"}:
            yield f"the load balancer listens on {rule.values['port_range']}"
    for rule in plan.of("compute_firewall"):
        ports = [port for allow in rule.values["allow"] for port in allow["ports"] or ["every port"]]
        is_displays = rule.name == "signage-broker-displays" and len(ports) == 1 and ports[0].isdigit()
        is_balanced = (
            rule.name == "signage-broker-browsers" and set(rule.values["source_ranges"]) == OF_THE_LOAD_BALANCER
        )
        if not _is_inside(rule) and not is_displays and not is_balanced:
            yield f"{rule.name} lets the internet come to {', '.join(ports)}"
    public = {machine.name for machine in plan.of("compute_instance") if machine.at("network_interface.access_config")}
    yield from (f"{name} has a public address" for name in sorted(public - {"signage-broker"}))


def _is_inside(rule: Resource) -> bool:
    return all(map(INSIDE.match, rule.values["source_ranges"] or ["everywhere"]))


def people_pass_the_proxy_and_displays_do_not(plan: Plan) -> Iterator[str]:
    """Under the people's name only the paths of displays and of status pages are without Identity-Aware Proxy."""
    guarded = {one.name for one in plan.of("compute_backend_service") if one.at("iap.enabled")}
    for routes in (one for one in plan.of("compute_url_map") if one.name == "signage"):
        [people] = [one for one in routes.values["path_matcher"] if one["name"] == "people"]
        to = {path: rule["service"] for rule in people["path_rule"] for path in rule["paths"]}
        to |= {"every other path": people["default_service"], "every other name": routes.values["default_service"]}
        opened = {path for path, service in to.items() if service.rpartition("/")[2] not in guarded}
        needed = OF_DISPLAYS - (set() if plan.of("compute_instance") else {"/mqtt"})
        yield from (f"{path} is open" for path in sorted(opened - OF_DISPLAYS - OF_STRANGERS))
        yield from (f"no display comes to {path}" for path in sorted(needed - opened))
        yield from (f"no stranger comes to {path}" for path in sorted(OF_STRANGERS - opened))


def a_browsers_connection_is_encrypted_and_lasts(plan: Plan) -> Iterator[str]:
    """Encrypted up to the door, because the display's password is in it. The timeout is that of its whole life."""
    doors = [one for one in plan.of("compute_backend_service") if one.name == "signage-browsers"]
    yield from ("there is no door",) * (len(doors) != len(plan.of("compute_instance")))
    for door in doors:
        yield from (f"it is reached by {door.values['protocol']}",) * (door.values["protocol"] != "HTTPS")
        yield from (f"it ends after {door.values['timeout_sec']} s",) * (door.values["timeout_sec"] < DAY_SECONDS)
        yield from ("nobody asks whether it lives",) * (not door.values["health_checks"])


def the_database_is_reached_inside_and_encrypted(plan: Plan) -> Iterator[str]:
    """It has no public address."""
    for database in plan.of("sql_database_instance"):
        reached = "settings.ip_configuration."
        if database.at(reached + "ipv4_enabled") is not False or not database.at(reached + "private_network"):
            yield "it has a public address"
        if database.at(reached + "ssl_mode") != "ENCRYPTED_ONLY":
            yield "it takes plain connections"


def whoever_works_is_not_taken_for_dead(plan: Plan) -> Iterator[str]:
    """The probe that restarts an instance uses an endpoint that answers under load, and waits for long."""
    for name, service in plan.services.items():
        probe = "template.containers.liveness_probe."
        path, seconds = LIVES.get(name, (None, 0))
        asked = service.at(probe + "http_get.path")
        if asked != path:
            yield f"{name} is asked for {asked}, not for {path}"
        elif path and service.at(probe + "period_seconds") * service.at(probe + "failure_threshold") < seconds:
            yield f"{name} is given less than {seconds} s"


def cloud_tasks_waits_for_the_longest_deck(plan: Plan) -> Iterator[str]:
    """Each timeout equals that of `timeouts`, which Cloud Tasks allows."""
    worker, converter = plan.services["convert-worker"], plan.services["converter"]
    told = {one["name"]: one["value"] for one in worker.all("template.containers.env")}
    ladder = timeouts(timedelta(seconds=int(told["CONVERSION_DEADLINE_SECONDS"])))
    [own] = [flag for flag in converter.all("template.containers.args") if flag.startswith("--api-timeout=")]
    for name, has, needs in (
        ("the converter's own limit", own.partition("=")[2], ladder.converter),
        ("the converter's", converter.at("template.timeout"), ladder.request),
        ("the worker's", worker.at("template.timeout"), ladder.function),
    ):
        if has != f"{needs.total_seconds():.0f}s":
            yield f"{name} is {has}, not {needs.total_seconds():.0f}s"
    yield from ("a task waits longer than Cloud Tasks",) * (ladder.dispatch > CLOUD_TASKS_WAITS)


def each_account_may_do_what_is_listed(plan: Plan) -> Iterator[str]:
    """The grants equal RIGHTS."""
    unknown = [one for one in plan.resources if "_iam_" in one.type and one.type not in TARGETS]
    yield from (f"{one.address} is not read here" for one in unknown)
    found: dict[str, set[tuple[str, str]]] = {}
    for grant in plan.grants:
        if grant.role != READS_A_SECRET:
            found.setdefault(grant.account, set()).add((grant.target, grant.role))
    for account in sorted(set(found) | _accounts(plan)):
        has, listed = found.get(account, set()), RIGHTS.get(account, set())
        yield from (f"{account} has {role} on {target}" for target, role in sorted(has - listed))
        yield from (f"{account} lacks {role} on {target}" for target, role in sorted(listed - has))


def _accounts(plan: Plan) -> set[str]:
    """The accounts of RIGHTS that this variant has."""
    return set(RIGHTS) - (set() if plan.of("compute_instance") else {"mosquitto"})


def only_who_is_given_a_secret_may_read_it(plan: Plan) -> Iterator[str]:
    """And every account that gets a secret may read it."""
    granted = {(one.account, one.target.removeprefix("secret ")) for one in plan.grants if one.role == READS_A_SECRET}
    yield from (f"{account} may read {secret} for nothing" for account, secret in sorted(granted - plan.secrets))
    yield from (f"{account} may not read {secret}" for account, secret in sorted(plan.secrets - granted))


def each_component_has_a_role_of_its_own_in_the_database(plan: Plan) -> Iterator[str]:
    """Only the migrations use the owner's login and know all passwords."""
    owns = {"migrations": {"database-url", "database-role-passwords"}, "mosquitto": {"database-url-broker-accounts"}}
    for account, secret in sorted(plan.secrets):
        if secret.startswith("database-") and secret not in owns.get(account, {f"database-url-{account}"}):
            yield f"{account} is given {secret}"


def the_media_volume_is_where_files_are_touched(plan: Plan) -> Iterator[str]:
    """The bucket is mounted writable at MEDIA_ROOT, with atomic renames, and deleted files can be restored."""
    [bucket] = plan.of("storage_bucket")
    if not bucket.at("hierarchical_namespace.enabled"):
        yield "a rename in the bucket is not one step"
    if (bucket.at("soft_delete_policy.retention_duration_seconds") or 0) < LEAST_DAYS * DAY_SECONDS:
        yield f"deleted files cannot be had back for {LEAST_DAYS} days"
    for name, service in plan.services.items():
        mounts = {one["name"]: one["mount_path"] for one in service.all("template.containers.volume_mounts")}
        volumes = [one for one in service.all("template.volumes") if one.get("gcs")]
        right = [one for one in volumes if one["gcs"][0]["bucket"] == bucket.name and not one["gcs"][0]["read_only"]]
        places = [mounts.get(one["name"]) for one in right]
        if volumes != right or places != ([str(BY_NAME["MEDIA_ROOT"].default)] if name in TOUCH_FILES else []):
            yield f"{name} has the bucket at {places or 'no place'}"


def nothing_that_keeps_data_is_deleted_by_mistake(plan: Plan) -> Iterator[str]:
    """Database, bucket, services and the broker's machine resist `terraform destroy`."""
    kinds = ("cloud_run_v2_service", "cloud_run_v2_job", "compute_instance", "sql_database_instance")
    for resource in (one for kind in kinds for one in plan.of(kind)):
        if not resource.values["deletion_protection"]:
            yield f"{resource.name} can be deleted"
    for database in plan.of("sql_database_instance"):
        if not database.at("settings.deletion_protection_enabled"):
            yield f"{database.name} can be deleted by others than Terraform"
    for bucket in plan.of("storage_bucket"):
        if bucket.values["force_destroy"]:
            yield f"{bucket.name} is deleted with its files"


def the_database_can_be_put_back(plan: Plan) -> Iterator[str]:
    """To any time of the last week, and to any of the last fourteen nights."""
    for database in plan.of("sql_database_instance"):
        kept = "settings.backup_configuration."
        if not database.at(kept + "enabled") or not database.at(kept + "point_in_time_recovery_enabled"):
            yield "no backup, or none between two nights"
        if (database.at(kept + "transaction_log_retention_days") or 0) < LEAST_DAYS:
            yield f"less than {LEAST_DAYS} days"
        if (database.at(kept + "backup_retention_settings.retained_backups") or 0) < LEAST_BACKUPS:
            yield f"less than {LEAST_BACKUPS} nights"


RULES: Final[tuple[Rule, ...]] = (
    the_whole_is_there,
    nothing_is_for_everybody,
    services_are_called_from_inside_or_by_the_load_balancer,
    the_internet_finds_two_doors,
    people_pass_the_proxy_and_displays_do_not,
    a_browsers_connection_is_encrypted_and_lasts,
    the_database_is_reached_inside_and_encrypted,
    whoever_works_is_not_taken_for_dead,
    cloud_tasks_waits_for_the_longest_deck,
    each_account_may_do_what_is_listed,
    only_who_is_given_a_secret_may_read_it,
    each_component_has_a_role_of_its_own_in_the_database,
    the_media_volume_is_where_files_are_touched,
    nothing_that_keeps_data_is_deleted_by_mistake,
    the_database_can_be_put_back,
)
