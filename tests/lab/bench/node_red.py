"""Node-RED as a peer: a flow that inserts topic and payload of each message separately, over ten connections.

It acknowledges messages before they are stored, so a crash loses some. NODE_RED names a folder in which
`npm install node-red@4 pg` has been run; the project does not require it.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, http_answers
from deploy.parts.short_lived import running
from tests.lab.bench.appends import Appender
from tests.lab.bench.traffic import PASSWORD, USER
from tests.lab.campaigns.machine import Machine

TABLE: Final = "bench_node_red"
CONNECTIONS: Final = 10
SESSION_SECONDS: Final = 86_400
STORE: Final = f"""const pool = global.get('pool');
pool.query('INSERT INTO {TABLE} (topic, payload) VALUES ($1, $2)', [msg.topic, msg.payload])
    .catch((error) => node.error(error.message));
"""


def home() -> Path | None:
    """The folder of its installation; None without one."""
    named = os.environ.get("NODE_RED")
    return Path(named) if named and (Path(named) / "node_modules/node-red/red.js").is_file() else None


@contextmanager
def _running(service: Machine, port: int) -> Iterator[None]:
    installed, folder, own_port = home(), service.folder / "node-red", free_port()
    assert installed is not None
    folder.mkdir(exist_ok=True)
    made = f"CREATE TABLE IF NOT EXISTS {TABLE} (topic text, payload text)"
    subprocess.run(["psql", service.database_url, "-q", "-c", made], check=True)
    (folder / "flows.json").write_text(json.dumps(_flow(port)), encoding="utf-8")
    (folder / "flows_cred.json").write_text(
        json.dumps({"broker": {"user": USER, "password": PASSWORD}}), encoding="utf-8"
    )
    (folder / "settings.js").write_text(_settings(installed, service.database_url, own_port), encoding="utf-8")
    program = ["node", str(installed / "node_modules/node-red/red.js"), "--userDir", str(folder), "flows.json"]
    # killed, because an orderly end would remove its subscription
    with running(program, http_answers(own_port, "/", 404), folder / "log", stop_signal=signal.SIGKILL):
        yield


def _settings(installed: Path, database_url: str, port: int) -> str:
    pool = {"connectionString": database_url, "max": CONNECTIONS}
    return f"""const {{ Pool }} = require({json.dumps(str(installed / "node_modules/pg"))});
module.exports = {{
  uiHost: '{LOOPBACK}', uiPort: {port}, httpAdminRoot: false, credentialSecret: false, flowFile: 'flows.json',
  functionGlobalContext: {{ pool: new Pool({json.dumps(pool)}) }},
}};
"""


def _flow(port: int) -> list[dict[str, Any]]:
    broker = {
        "id": "broker",
        "type": "mqtt-broker",
        "broker": LOOPBACK,
        "port": str(port),
        "clientid": "node-red",
        "autoConnect": True,
        "protocolVersion": "5",
        "keepalive": "60",
        "cleansession": False,
        "sessionExpiry": str(SESSION_SECONDS),
    }
    heard = {"type": "mqtt in", "topic": "signage/#", "qos": "1", "datatype": "utf8", "broker": "broker"}
    return [
        {"id": "tab", "type": "tab", "label": "store"},
        broker,
        {"id": "heard", "z": "tab", **heard, "nl": False, "rap": True, "rh": 0, "inputs": 0, "wires": [["store"]]},
        {"id": "store", "z": "tab", "type": "function", "func": STORE, "outputs": 0, "libs": [], "wires": []},
    ]


APPENDER: Final = Appender("Node-RED, plain appends", TABLE, f"SELECT count(*) FROM {TABLE}", _running)
