"""The campaign on the box with systemd without a machine: the commands that it reads in guides and units."""

from deploy.local.prerequisites import RUN
from tests.lab.campaigns.box_kernel import FAR, FAR_DENIED, judged
from tests.lab.campaigns.guides import backup_lines, restore_lines
from tests.lab.campaigns.systemd_box import ALL, STAY, certificate_lines, packages, renewal_line, set_up_lines


def test_the_lines_of_the_guide_are_all_that_a_box_needs() -> None:
    before, start = set_up_lines()

    assert start.startswith("systemctl enable --now signage.target")
    assert "…" not in before + start
    assert "systemctl start signage-setup" in before
    assert "CREATE ROLE signage" in before
    assert "sudo" not in before + restore_lines("systemd")  # a minimal Debian has none


def test_the_guide_installs_what_a_box_runs_on_and_git() -> None:
    assert {"git", *(need.package for need in RUN)} == set(packages())


def test_backup_and_restore_are_those_for_systemd() -> None:
    backup, restore = backup_lines("systemd"), restore_lines("systemd")

    assert ["pg_dump" in backup[0], "cp -a /server/media" in backup[1], "secrets /etc/signage" in backup[2]] == [
        True
    ] * 3
    assert "\nsystemctl stop 'signage-*' signage.target " in restore  # waits for services that use the database
    assert "pg_restore" in restore
    assert "docker" not in restore + "".join(backup)


def test_a_renewed_certificate_comes_by_one_line() -> None:
    assert renewal_line("/root/renewed").split("#")[0].split() == [
        "RENEWED_LINEAGE=/root/renewed",
        "deploy/box/renewed.sh",
    ]
    assert "-x509" in certificate_lines()
    again = certificate_lines(again=True).splitlines()
    assert [line.split()[0] for line in again] == ["openssl", "printf", "openssl"]  # no half of a command
    assert not [line for line in again if "/CN=Our signage" in line]


def test_each_unit_that_stays_is_killed() -> None:
    assert {"signage-broker.service", "signage-api.service", "signage-gateway.service"} < set(STAY)
    assert set(ALL) - set(STAY) == {f"signage-{once}.service" for once in ("setup", "migrations", "first-admin")}


def test_a_unit_that_is_refused_by_another_machine_has_reached_it() -> None:
    well = ["ready", 'converter {"isolation": "bubblewrap"}', "deck ready", f"{FAR}connect: Connection refused"]

    assert all(judged([*well, FAR_DENIED]).values())
    assert list(judged([*well, f"{FAR_DENIED}connect: Connection refused"]).values()) == [True, True, True, False]
    assert list(judged(well).values()) == [True, True, True, False]
    assert not any(judged([]).values())
