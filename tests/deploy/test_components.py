"""deploy/components.yaml: the files written from it are as written, and it names no role and user that nobody has."""

from deploy.box.box import Box
from deploy.files import SYSTEMD, files
from deploy.parts.broker_rights import SERVICES
from deploy.parts.components import COMPONENTS, OF_A_BOX
from migrations.roles import WITH_ROLES


def test_the_files_are_as_make_deploy_files_writes_them() -> None:
    assert [file.name for file, text in files().items() if file.read_text(encoding="utf-8") != text] == []
    by_hand = set(SYSTEMD.glob("signage-*.service")) - set(files())
    assert {file.name for file in by_hand} == {"signage-setup.service"}


def test_each_role_and_each_user_belongs_to_a_component() -> None:
    """migrations/rights.py and deploy/parts/broker_rights.py have what each may do."""
    assert sorted(component.role for component in COMPONENTS.values() if component.role) == sorted(WITH_ROLES)
    assert sorted(component.user for component in COMPONENTS.values() if component.user) == sorted(SERVICES)


def test_whoever_signs_in_at_the_database_starts_after_the_migrations() -> None:
    after = {name: component.after for name, component in COMPONENTS.items() if component.role}

    assert [name for name, before in after.items() if "migrations" not in before] == []


def test_a_component_is_told_where_its_secrets_are_and_of_no_other(environ: dict[str, str]) -> None:
    found_by_name = {"oidc_key.pem"}
    box = Box(environ)
    box.layout.run.mkdir(parents=True)

    for name in (name for name, component in OF_A_BOX.items() if component.program):
        told = box.service(name).environment or {}
        files = {value.rpartition("/")[2] for value in told.values() if value.startswith(f"{box.layout.secrets}/")}
        assert files | found_by_name == {*OF_A_BOX[name].all_secrets} | found_by_name, name


def test_who_needs_no_network_but_this_machine_has_none() -> None:
    alone = {name for name, component in OF_A_BOX.items() if component.loopback}

    assert alone == {
        *("bridge", "broker-accounts", "browsers-door", "convert-worker", "converter", "task-queue", "ticker")
    }


def test_the_database_is_owned_by_the_migrations_and_the_first_sign_in_alone() -> None:
    owners = {name for name, component in COMPONENTS.items() if "database_url" in component.all_secrets}

    assert owners == {"migrations", "first-admin"}
