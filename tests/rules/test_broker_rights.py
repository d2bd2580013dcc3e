"""The rights that are printed for another broker are those of one stack, and of no other."""

import pytest

from deploy.parts.broker_rights import displays_acl, main, services_acl


@pytest.mark.parametrize(("asked", "root", "prefix"), [([], "signage", ""), (["north", "north-"], "north", "north-")])
def test_the_rights_of_one_stack_are_printed(
    capsys: pytest.CaptureFixture[str], asked: list[str], root: str, prefix: str
) -> None:
    main(asked)

    assert capsys.readouterr().out == services_acl(root, prefix) + "\n" + displays_acl(root)


@pytest.mark.parametrize(
    "asked",
    [["+"], ["#"], ["north/+"], ["north", "north -"], ["north\nuser south-api"], ["north", "n-", "south"], [""]],
)
def test_what_is_no_name_gives_no_rights(capsys: pytest.CaptureFixture[str], asked: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(asked)

    told = capsys.readouterr()
    assert told.out == ""
    assert "letters, digits" in told.err or "unrecognized arguments: south" in told.err
