"""A display client in one short file, to read and to copy. It needs only Python's standard library and paho-mqtt.

    python minimal.py login.json player [argument ...]

`login.json` is the answer of POST /api/enroll. The client starts the player, and restarts it on command.
docs/protocol.md, "A short client", lists what it leaves out, and what that costs.
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from random import random
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
EXPIRY_SECONDS = {"heartbeat": 30, "health": 300, "acks": 86_400}
INTERVAL_SECONDS = 30


class Client:
    """One display."""

    def __init__(self, login_file: Path, player: list[str]) -> None:
        """Count this start as a boot, and start the player. This completes a restart that a power cut interrupted."""
        self.login = json.loads(login_file.read_text("utf-8"))
        self.prefix = f"{self.login['topic_root']}/{self.login['uuid']}/"
        self.file, self.player, self.seq, self.losses = login_file.with_suffix(".state"), player, dict[str, int](), -1
        self.state: dict[str, Any] = {"install_id": str(uuid.uuid4()), "boot_seq": 0, "journal": {}}
        if self.file.exists():
            self.state = json.loads(self.file.read_text("utf-8"))
        self.state["boot_seq"] += 1
        for ack in self.state["journal"].values():
            ack["state"] = "succeeded" if ack["state"] in {"received", "running"} else ack["state"]
        self.save()
        self.start_player()

    def start_player(self) -> None:
        self.app_instance, self.process = str(uuid.uuid4()), subprocess.Popen(self.player)

    def save(self) -> None:
        """Write the state to the disk. Raises OSError. After a power cut the file has the old state or the new one."""
        with self.file.with_suffix(".new").open("w", encoding="utf-8") as file:
            file.write(json.dumps(self.state))
            file.flush()
            os.fsync(file.fileno())
        self.file.with_suffix(".new").replace(self.file)

    def can_save(self) -> bool:
        """Whether the file can be opened to be written; statvfs and access do not see each fault of a disk."""
        try:
            os.close(os.open(self.file, os.O_WRONLY))
        except OSError:
            return False
        return True

    def run(self) -> None:
        """Connect again and again. Each connection has its own MQTT client, which repeats no old messages."""
        pause = 0.5
        while True:
            self.losses, self.told, self.beat_at = self.losses + 1, "", 0.0
            try:
                self.connect()
                while self.mqtt.loop(0.5) == mqtt.MQTT_ERR_SUCCESS:
                    if self.told:  # we are online
                        pause = 0.5
                        self.report()
            except OSError as error:
                print(error, file=sys.stderr)
            time.sleep(pause * (1 - random() / 2))  # noqa: S311 - jitter
            pause = min(30.0, pause * 2)

    def connect(self) -> None:
        """Begin a connection. Raises OSError."""
        address, self.session = self.login["mqtt"], uuid.uuid4().hex
        self.mqtt = mqtt.Client(CallbackAPIVersion.VERSION2, self.login["uuid"], protocol=mqtt.MQTTv5)
        self.mqtt.username_pw_set(self.login["username"], self.login["password"])
        if address["tls"]:
            context = ssl.create_default_context(cadata=address["ca_pem"])
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # Python 3.13 would refuse many owners' authorities
            self.mqtt.tls_set_context(context)
        self.mqtt.on_connect, self.mqtt.on_subscribe, self.mqtt.on_message = self.connected, self.subscribed, self.heard
        delay, will = properties(PacketTypes.WILLMESSAGE, WillDelayInterval=20), self.presence("offline")
        self.mqtt.will_set(self.prefix + "presence", will, 1, retain=True, properties=delay)
        expiry = properties(PacketTypes.CONNECT, SessionExpiryInterval=30)
        self.mqtt.connect(address["host"], address["port"], 30, clean_start=False, properties=expiry)

    def connected(self, *_: object) -> None:
        options = SubscribeOptions(qos=1, retainAsPublished=True)
        self.mqtt.subscribe([(self.prefix + name, options) for name in ("commands", "logs_committed", "log_level")])

    def subscribed(self, *_: object) -> None:
        self.mqtt.publish(self.prefix + "presence", self.presence("online"), 1, retain=True)
        self.told = "nothing yet"

    def presence(self, state: str) -> str:
        return json.dumps({"state": state, "session": self.session})

    def say(self, topic: str, **body: Any) -> dict[str, Any]:
        """Publish a message with a stamp. Returns the document."""
        kind = topic.partition("/")[0]
        self.seq[kind] = self.seq.get(kind, 0) + 1
        stamp = {"install_id": self.state["install_id"], "boot_seq": self.state["boot_seq"], "seq": self.seq[kind]}
        said = {**body, **stamp, "ts": datetime.now(UTC).isoformat()}
        expiry = {"MessageExpiryInterval": EXPIRY_SECONDS[kind]} if kind in EXPIRY_SECONDS else {}
        sent_as = properties(PacketTypes.PUBLISH, **expiry)
        self.mqtt.publish(self.prefix + topic, json.dumps(said), 1, properties=sent_as)
        return said

    def report(self) -> None:
        """Publish heartbeat and health: at each interval, and at once when the player's state changes."""
        status = "running" if self.process.poll() is None else "crashed"
        if status == self.told and time.monotonic() < self.beat_at:
            return
        if status != self.told:
            self.say("logs/info" if status == "running" else "logs/error", message=f"The player: {status}")
        self.told, self.beat_at, acks = status, time.monotonic() + INTERVAL_SECONDS, [*self.state["journal"].values()]
        here = {"boot_id": BOOT_ID, "app_instance": self.app_instance, "last_command": acks[-1] if acks else None}
        self.say("heartbeat", **here, process_status=status, interval_seconds=INTERVAL_SECONDS)
        rest = {"capabilities": ["restart_app"], "disk_writable": self.can_save()}
        rest["broker_connection"] = {"reconnect_count": self.losses}
        self.say("health", screen_health="unknown", log_level="info", recent_acks=acks[-8:], **rest)

    def heard(self, _client: object, _userdata: object, message: mqtt.MQTTMessage) -> None:
        """Carry out a live command at most once, and answer it."""
        try:
            command = json.loads(message.payload)
            command_id, action, version = str(command["id"]), command["action"], command.get("v", 1)
            boot, instance = command.get("if_boot_id") or BOOT_ID, command.get("if_app_instance") or self.app_instance
        except (ValueError, KeyError, TypeError, AttributeError):
            return
        if message.retain or message.topic != self.prefix + "commands":
            return
        if command_id in self.state["journal"]:
            self.answer(command_id, **self.state["journal"][command_id])
        elif version > 1:
            self.answer(command_id, "rejected", "unsupported_version")
        elif action != "restart_app":
            self.answer(command_id, "rejected", "unknown_action")
        elif (boot, instance) != (BOOT_ID, self.app_instance):
            self.answer(command_id, "rejected", "precondition_failed")
        elif self.answer(command_id, "received"):
            self.answer(command_id, "running")
            self.process.terminate()
            self.process.wait()
            self.start_player()
            self.answer(command_id, "succeeded")
            self.beat_at = 0.0

    def answer(self, command_id: str, state: str, reason: str | None = None, **_: object) -> bool:
        """Write the journal, then send the ACK. False: the disk does not take it, so a command is refused."""
        ack = {"id": command_id, "state": state, "reason": reason}
        self.state["journal"] = dict([*self.state["journal"].items(), (command_id, ack)][-256:])
        try:
            self.save()
            is_kept = True
        except OSError:
            is_kept = False
            ack |= {"state": "rejected", "reason": "no_journal"} if state == "received" else {}
        here = {"boot_id": BOOT_ID, "app_instance": self.app_instance}
        self.state["journal"][command_id] = {**ack, **self.say("acks", **ack, **here)}
        return is_kept


def properties(packet: int, **values: int) -> Properties:
    """Properties of an MQTT 5 packet."""
    made = Properties(packet)  # type: ignore[no-untyped-call]  # paho leaves it without types
    for name, value in values.items():
        setattr(made, name, value)
    return made


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    client = Client(Path(sys.argv[1]), sys.argv[2:])
    try:
        client.run()
    finally:
        client.process.terminate()
