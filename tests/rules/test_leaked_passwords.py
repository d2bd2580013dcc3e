"""Find a password in a file of leaked ones, in the common format of such files."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.access.passwords_operations import check_not_leaked, is_listed
from shared.config import load
from shared.errors import ConfigurationError, PasswordNotAccepted

WORDS = [f"leaked password {number}" for number in range(50)]


def line(password: str, after: str = ":3") -> str:
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper() + after


def written(folder: Path, passwords: list[str], end: str = "\r\n", after: str = ":3") -> Path:
    file = folder / "leaked.txt"
    file.write_bytes("".join(line(one, after) + end for one in sorted(passwords, key=line)).encode())
    return file


@pytest.mark.parametrize("after", [":3", ":52256179", ""])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_each_line_is_found_and_nothing_else(tmp_path: Path, end: str, after: str) -> None:
    file = written(tmp_path, WORDS, end, after)

    assert [one for one in WORDS if not is_listed(one, file)] == []
    assert [one for one in (f"a password of my own {n}" for n in range(50)) if is_listed(one, file)] == []


@given(st.lists(st.text(max_size=5), max_size=6, unique=True), st.text(max_size=5))
def test_it_is_found_where_it_is(tmp_path_factory: pytest.TempPathFactory, passwords: list[str], asked: str) -> None:
    file = written(tmp_path_factory.mktemp("list"), passwords)

    assert is_listed(asked, file) is (asked in passwords)


def test_a_listed_one_is_refused_and_without_a_list_none_is(tmp_path: Path) -> None:
    file = str(written(tmp_path, WORDS))

    with pytest.raises(PasswordNotAccepted, match="list of leaked passwords"):
        check_not_leaked(WORDS[7], file)
    check_not_leaked("a password of my own", file)
    check_not_leaked(WORDS[7], "")


def test_a_list_that_is_not_there_is_told_at_the_start(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"

    with pytest.raises(ConfigurationError, match=r"LEAKED_PASSWORDS_FILE: .* a file that can be read"):
        load({"LEAKED_PASSWORDS_FILE": str(nowhere)})
    with pytest.raises(ConfigurationError, match="LEAKED_PASSWORDS_FILE cannot be read"):
        check_not_leaked("a password of my own", str(nowhere))
