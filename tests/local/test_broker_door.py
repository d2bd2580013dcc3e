"""The broker's plugin, compiled with AddressSanitizer: files of logins of any form touch no foreign memory."""

import subprocess
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.parts import broker_door

MOST_AT_ONCE: Final = 17_000_000 // (1_024 + 512)  # bytes, and those of a sign-in: deploy/parts/broker_door.c
SIGN_INS: Final = 2 * MOST_AT_ONCE
BROKER: Final = """
#include "%s"
#include <stdio.h>
int mosquitto_callback_register(void *p, int e, int (*c)(int, void *, void *), const void *d, void *u)
{ (void)p, (void)e, (void)c, (void)d, (void)u; return 0; }
int mosquitto_kick_client_by_username(const char *n, bool w) { (void)n, (void)w; return 0; }
const char *mosquitto_client_id(const struct mosquitto *c) { return (const char *)c; }
const char *mosquitto_client_username(const struct mosquitto *c) { return (const char *)c; }
static int freed;
void mosquitto_property_free_all(void **p) { (void)p, freed++; }
void mosquitto_log_printf(int l, const char *f, ...) { (void)l, (void)f; }
int PKCS5_PBKDF2_HMAC(const char *p, int l, const unsigned char *s, int sl, int r, const void *d, int k,
		unsigned char *o)
{ (void)p, (void)l, (void)s, (void)sl, (void)r, (void)d; memset(o, 'A', (size_t)k); return 1; }
const void *EVP_sha512(void) { return 0; }
int EVP_DecodeBlock(unsigned char *to, const unsigned char *from, int n)
{ memset(to, from[0], (size_t)n / 4 * 3); return n / 4 * 3; }
int CRYPTO_memcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }
int SSL_get_fd(const void *s) { (void)s; return -1; }
int main(int count, char **files)
{
	struct mosquitto_opt options[] = {{"logins", files[1]}, {"services", "api"}, {"topic_roots", "signage"},
		{"downward", "commands"}, {"retained", "presence"}};
	for(int i = 1; i < count; i++){
		/* Each file gets a descriptor of a stranger that left after two bytes. */
		for(int fd = 3; fd < 64; fd++) strangers[fd] = (struct stranger){.since_ns = 1, .outside = {2, true}};
		options[0].value = files[i];
		if(mosquitto_plugin_init(0, 0, options, 5)) return 1;
		on_tick(0, 0, 0), end_connections();
		struct basic_auth ask = {.client = (struct mosquitto *)"a", .username = "a", .password = "secret"};
		int let_in = 0;
		for(int k = 0; k < %d; k++) let_in += on_basic_auth(0, &ask, 0) == SUCCESS;
		struct message came = {.client = (struct mosquitto *)"a", .properties = options};
		on_message(0, &came, 0);
		printf("%%zu %%d %%d\\n", now.count, let_in, came.properties ? -1 : freed);
	}
}
"""


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that reads each file of logins on its command line.

    It prints how many logins a file has, how often `a` was let in (any password is right), and how many properties were
    freed.
    """
    folder = tmp_path_factory.mktemp("door")
    (folder / "broker.c").write_text(BROKER % (broker_door.SOURCE, SIGN_INS), encoding="ascii")
    checks = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    subprocess.run(["gcc", "-std=gnu11", *checks, "-o", folder / "broker", folder / "broker.c"], check=True)
    return folder / "broker"


def read(program: Path, *contents: bytes, version: str = "") -> list[tuple[int, int, int]]:
    """For each file the number of logins, of sign-ins that were let in, and of properties that were freed."""
    files = [program.with_name(f"logins-{number}") for number in range(len(contents))]
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    told = {"ASAN_OPTIONS": "detect_leaks=0", "MOSQUITTO_VERSION": version}
    done = subprocess.run([program, *files], capture_output=True, text=True, check=False, env=told)
    assert done.returncode == 0, done.stderr[-3000:]
    words = iter(map(int, done.stdout.split()))
    return list(zip(words, words, words, strict=True))


def logins_in(program: Path, *contents: bytes) -> list[int]:
    return [logins for logins, _, _ in read(program, *contents)]


def test_lines_end_with_a_newline_alone(sanitized: Path) -> None:
    assert logins_in(sanitized, b"a:x\nb:y\n", b"a:x\r" * 100, b"", b"a:x", b"\n\n:x\na\na:$7$1$AAAA$AAAA\n") == [
        2,
        1,
        0,
        1,
        1,
    ]


def test_a_display_signs_in_as_often_as_its_budget_has_room_for_wills(sanitized: Path) -> None:
    ((_, let_in, _),) = read(sanitized, b"a:$7$1$AAAA$" + b"A" * 86 + b"==\n")

    assert MOST_AT_ONCE <= let_in < SIGN_INS


@pytest.mark.parametrize(
    ("version", "freed"), [("2.0.11", 1), ("2.0.14", 1), ("2.0.15", 0), ("2.0.21", 0), ("2.1.2", 0), ("", 0)]
)
def test_properties_are_freed_once_by_the_plugin_or_by_the_broker(sanitized: Path, version: str, freed: int) -> None:
    assert read(sanitized, b"", version=version) == [(0, 0, freed)]


@given(
    st.lists(
        st.lists(st.sampled_from([b"a", b":", b"\r", b"\n", b"$7$1$", b"$", b"AAAA", b"\0", b"\xff"])), max_size=30
    )
)
@settings(max_examples=20)
def test_no_file_of_logins_makes_the_plugin_touch_foreign_memory(sanitized: Path, files: list[list[bytes]]) -> None:
    contents = [b"".join(pieces) for pieces in files] or [b""]

    assert len(logins_in(sanitized, *contents)) == len(contents)
