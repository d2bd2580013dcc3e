"""One address for the dashboard's files and `/api/`, as a load balancer gives it in the cloud.

Debian's nginx with a configuration generated here. It stands between slow clients and the api
function: bodies and answers are buffered, so a stalled connection costs no thread of ours; only
uploads stream through, and only so many at once.
"""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts import guardian
from deploy.parts.layout import LOOPBACK, REPOSITORY, write_file
from deploy.parts.probes import Probe, http_answers
from deploy.parts.short_lived import running

STOP_SIGNAL: Final = signal.SIGTERM  # at once; SIGQUIT would wait for open connections
UPLOADS_AT_ONCE: Final = 8  # each holds one of the api function's 64 threads for as long as it lasts
UPLOADS_OF_ONE: Final = 4  # from one address, so that nobody takes them all; a refused one counts until it ends
UPLOAD_ROOM_BYTES: Final = 10_000_000  # what multipart may add to the largest file
JSON_BODY_BYTES: Final = 1024 * 1024  # largest body that is no upload: functions.api.limits.BODY_LIMIT

# frame-src: the PDF beside its conversion.
CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
    " font-src 'self'; manifest-src 'self'; frame-src 'self' blob:; base-uri 'none';"
    " form-action 'self'; frame-ancestors 'self'"
)
COMMON_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Request-ID": "$request_name",
}
STATIC_HEADERS: Final = {
    **COMMON_HEADERS,
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-cache",  # file names carry no hash: ask each time, and mostly hear 304
}
MIME_TYPES: Final = {
    "text/html": "html",
    "text/css": "css",
    "text/javascript": "js mjs",
    "text/plain": "txt",
    "application/json": "json map",
    "application/manifest+json": "webmanifest",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/x-icon": "ico",
    "image/webp": "webp",
    "font/woff2": "woff2",
}
NOT_SERVED: Final = r"(^|/)(\.|(node_modules|tests)(/|$)|(package(-lock)?|tsconfig[^/]*)\.json$|[^/]*\.(pyc?|d\.ts)$)"

# What nginx itself refuses: its status (494 is its own for 431), ours, code, title, what happened.
PROBLEMS: Final = (
    (400, 400, "bad_request", "Bad request", "The request is not well-formed HTTP."),
    (404, 404, "not_found", "Not found", "There is nothing at this address."),
    (405, 405, "method_not_allowed", "Method not allowed", "This address cannot be used that way."),
    (408, 408, "request_timeout", "Request timed out", "The request took too long to arrive."),
    (413, 413, "too_large", "Body too large", "The body may have $body_limit bytes at most here."),
    (414, 414, "uri_too_long", "Address too long", "The address of the request is too long."),
    (494, 431, "headers_too_large", "Headers too large", "The headers of the request are too large."),
    (421, 421, "misdirected", "Misdirected request", "This server does not answer to that host name."),
    (429, 429, "too_many_uploads", "Too many uploads", "Other uploads are running; try again in a moment."),
    (502, 502, "api_unavailable", "Service unavailable", "The API is not running; it may be starting again."),
    (504, 504, "api_timeout", "Service timed out", "The API did not answer in time."),
)
RETRY_AFTER_SECONDS: Final = {429: 5, 502: 2, 504: 5}


class GatewayUnusable(Exception):
    """There is no nginx that can be used; the message says what to do."""


@dataclass(frozen=True)
class Gateway:
    """Where one nginx keeps its files, listens and passes requests on."""

    run: Path  # generated configuration and temporary files
    port: int
    api_port: int
    upload_limit_bytes: int = 200_000_000
    dashboard: Path = REPOSITORY / "dashboard"
    api_timeout_seconds: int = 75

    @property
    def configuration(self) -> Path:
        return self.run / "nginx.conf"


def _headers(headers: dict[str, str]) -> str:
    """Each block gets all of them: nginx lets a block inherit add_header only when it has none itself."""
    return "\n".join(f'      add_header {name} "{value}" always;' for name, value in headers.items())


def _problem_location(said: int, status: int, code: str, title: str, detail: str) -> str:
    document = {
        "type": f"urn:signage:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": "$request_name",
    }
    if status == 413:
        document["limit_bytes"] = "$body_limit"
    retry = RETRY_AFTER_SECONDS.get(status)
    extra: dict[str, str] = {}
    if retry is not None:
        document["retry_after_seconds"] = retry
        extra["Retry-After"] = str(retry)
    as_ours = "" if said == status else f"={status} "  # 494 would leave as 400
    return f"""\
    error_page {said} {as_ours}/.problem/{status};
    location = /.problem/{status} {{
      internal;
      client_max_body_size 0;
      types {{ }}
      default_type application/problem+json;
{_headers({**COMMON_HEADERS, "Cache-Control": "no-store", **extra})}
      return {status} '{json.dumps(document).replace('"$body_limit"', "$body_limit")}';
    }}
"""


def _to_the_api(gateway: Gateway, body_bytes: int, *, streams: bool) -> str:
    """The lines that pass a request on. What a client claims about itself is replaced by what we know."""
    hidden = "\n".join(f"      proxy_hide_header {name};" for name in COMMON_HEADERS)
    return f"""\
      proxy_pass http://{LOOPBACK}:{gateway.api_port};
      charset off;
      proxy_http_version 1.1;
      proxy_request_buffering {"off" if streams else "on"};
      client_max_body_size {body_bytes};
      proxy_connect_timeout 3s;
      proxy_read_timeout {gateway.api_timeout_seconds}s;
      proxy_next_upstream off;
      proxy_set_header Connection close;
      proxy_set_header Host $http_host;
      proxy_set_header X-Request-ID $request_name;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header Forwarded "";
      proxy_set_header X-Goog-IAP-JWT-Assertion "";
{hidden}
{_headers(COMMON_HEADERS)}
"""


def _http_block(gateway: Gateway) -> str:
    types = "\n".join(f"    {kind} {endings};" for kind, endings in MIME_TYPES.items())
    temporary = "\n".join(
        f'  {kind}_temp_path "{gateway.run}/nginx-{kind}";'
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""\
  types {{
{types}
  }}
  default_type application/octet-stream;
  charset utf-8;
  charset_types text/css text/javascript text/plain application/json application/manifest+json;
{temporary}
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nopush on;
  etag on;
  gzip on;
  gzip_vary on;
  gzip_proxied any;
  gzip_comp_level 5;
  gzip_min_length 512;
  gzip_types text/css text/javascript text/plain application/json application/problem+json
    application/manifest+json image/svg+xml;
  client_header_timeout 15s;
  client_body_timeout 30s;
  send_timeout 30s;
  keepalive_timeout 65s;
  reset_timedout_connection on;
  large_client_header_buffers 4 8k;

  # A caller's own request id is kept when it is one.
  map $http_x_request_id $request_name {{
    default $request_id;
    "~^[A-Za-z0-9._-]{{8,64}}$" $http_x_request_id;
  }}
  # What a body may have, for whoever is refused.
  map $request_uri $body_limit {{
    default {JSON_BODY_BYTES};
    "~^/api/event-media(/uploads|[?]|$)" {gateway.upload_limit_bytes};
  }}
  # One key for every upload, none for the rest: what is counted by limit_conn.
  map "$request_method $uri" $upload {{
    default "";
    "~^(POST|PUT|PATCH) /api/event-media(/uploads|$)" all;
  }}
  map $upload $upload_by {{
    default "";
    all $binary_remote_addr;
  }}
  limit_conn_zone $upload zone=uploads:1m;
  limit_conn_zone $upload_by zone=uploads_by:1m;
  limit_conn_status 429;
  limit_conn_log_level info;
"""


def configuration(gateway: Gateway) -> str:
    """The whole nginx.conf."""
    uploads = _to_the_api(gateway, gateway.upload_limit_bytes + UPLOAD_ROOM_BYTES, streams=True)
    other = _to_the_api(gateway, JSON_BODY_BYTES, streams=False)
    problems = "".join(_problem_location(*problem) for problem in PROBLEMS)
    return f"""\
daemon off;
worker_processes 2;
worker_rlimit_nofile 8192;
pid "{gateway.run}/nginx.pid";
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
{_http_block(gateway)}
  # A page of another name that resolves to this machine must not reach us as its own origin.
  server {{
    listen {LOOPBACK}:{gateway.port} default_server;
{problems}
    location / {{ return 421; }}
  }}
  server {{
    listen {LOOPBACK}:{gateway.port};
    server_name {LOOPBACK} localhost;
    root "{gateway.dashboard}";
{problems}
    location /api/ {{
{other}    }}
    location ~ ^/api/event-media(/uploads|$) {{
      limit_conn uploads {UPLOADS_AT_ONCE};
      limit_conn uploads_by {UPLOADS_OF_ONE};
      lingering_time 2s;
      lingering_timeout 1s;
{uploads}    }}
    location = /api {{ return 404; }}
    location = / {{
      try_files /index.html =404;
{_headers(STATIC_HEADERS)}
    }}
    location / {{
      try_files $uri =404;
{_headers(STATIC_HEADERS)}
    }}
    location ~ {NOT_SERVED} {{ return 404; }}
  }}
}}
"""


def prepare(gateway: Gateway) -> None:
    """Write the configuration and make the folders that nginx needs."""
    gateway.run.mkdir(mode=0o700, parents=True, exist_ok=True)
    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
        folder = gateway.run / f"nginx-{kind}"
        folder.mkdir(mode=0o700, exist_ok=True)
        guardian.own(folder, system_user())
    write_file(gateway.configuration, configuration(gateway))


def system_user() -> str:
    """Who nginx runs as when root starts it where user namespaces are forbidden."""
    return guardian.existing_user("www-data", "nobody")


def command(gateway: Gateway) -> tuple[str, ...]:
    """The gateway's command line.

    Raises:
        GatewayUnusable: nginx is not installed.
    """
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        raise GatewayUnusable("There is no nginx: install the Debian package nginx-light.")
    return (program, "-p", str(gateway.run), "-e", "stderr", "-c", str(gateway.configuration))


def answers(gateway: Gateway) -> Probe:
    """Whether the dashboard's first page comes."""
    return http_answers(gateway.port, "/", 200)


@contextmanager
def serve(gateway: Gateway, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The gateway for as long as the block lasts."""
    prepare(gateway)
    with running(command(gateway), answers(gateway), log, stop_signal=STOP_SIGNAL, user=system_user()) as process:
        yield process
