// A display that is only a browser: docs/display-browser.md. It shows another page in a frame and is its MQTT client.

import { Disk, NoDisk } from "./disk.js";
import { Link } from "./link.js";
import { Spool } from "./spool.js";
import { LEVELS, State, documentOf, encoded, isOpen, isText, randomWord } from "./state.js";

const HEARTBEAT_MS = 30_000;
const FRAME_MS = 5_000; // a visible page draws a frame within this time
const RELOAD_MS = 30_000;
const ANSWER_MS = 2_000;
const STATUS = ["starting", "running", "crashed", "stopped"];

const options = new URL(location.href).searchParams; // code, show, version
const frame = Object.assign(document.createElement("iframe"), {
  title: "What this display shows",
  allow: "autoplay; fullscreen",
  sandbox: "allow-scripts allow-same-origin allow-forms", // it cannot replace this page, or open others
});
const after = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));

class Display {
  #commands = Promise.resolve(); // commands run one after another
  #frameAt = performance.now();

  constructor(disk, login, state, lines, hasWaited) {
    Object.assign(this, { disk, login, state, hasWaited });
    const url = `${location.origin.replace("http", "ws")}/mqtt`;
    this.link = new Link(url, login, this);
    this.spool = new Spool(disk, lines, () => this.link);
  }

  async begin() {
    for (const entry of [...this.state.journal.values()].filter(isOpen)) {
      await this.#move(this.state.settled(entry, this.hasWaited)).catch(() => {});
    }
    this.link.open();
    this.#watchFrames();
    let beats = 0;
    setInterval(() => {
      this.heartbeat();
      if (++beats % 2 === 0) this.health();
    }, HEARTBEAT_MS);
    for (const name of ["visibilitychange", "resume", "pageshow"]) {
      document.addEventListener(name, () => this.link.look());
    }
    addEventListener("online", () => this.link.look());
  }

  #watchFrames() {
    requestAnimationFrame(() => {
      this.#frameAt = performance.now();
      setTimeout(() => this.#watchFrames(), 1_000);
    });
  }

  heartbeat() {
    this.link.sendKeptAgain();
    this.link.send("heartbeat", encoded(this.state.heartbeat()));
  }

  health() {
    const now = performance.now();
    const isSeen = document.visibilityState === "visible" && now - this.#frameAt < FRAME_MS;
    const vitals = {
      screen_health: isSeen ? "ok" : "unknown", // a browser cannot see the panel
      app_version: options.get("version")?.slice(0, 256) || null,
      os: navigator.userAgent.slice(0, 256),
      disk_writable: this.disk.works,
    };
    this.link.send("health", encoded(this.state.health(vitals, now)));
  }

  log(level, message, context) {
    const isWanted = LEVELS.indexOf(level) >= LEVELS.indexOf(this.state.level(performance.now()));
    if (isWanted && this.spool.hasRoom()) this.spool.keep(this.state.log(level, message, context));
  }

  // --- callbacks of the link ---

  onUp() {
    if (this.wasUp) this.state.reconnects++;
    this.wasUp = true;
    this.spool.again();
    this.heartbeat();
    this.health();
  }

  onDown() {
    this.state.lostAt = new Date().toISOString();
  }

  onMessage(name, payload, expirySeconds) {
    const now = performance.now();
    const body = documentOf(payload) ?? {};
    if (name === "log_level") this.state.note(name, this.state.order(body, now), now);
    if (name === "logs_committed" && this.state.isMine(body)) this.spool.committed(body);
    if (name !== "commands") return;
    const isCommand = isText(body.id, 128) && isText(body.action, 64);
    this.state.note(name, isCommand ? null : "not_understood", now);
    if (!isCommand) return;
    const end = now + (expirySeconds ?? Infinity) * 1000;
    this.#commands = this.#commands.then(() => this.#onCommand(body, end)).catch(() => this.#refuse(body));
  }

  /** The disk refused the journal entry, so nothing has begun: answer by memory alone. */
  #refuse(command) {
    const state = this.state.journal.has(command.id) ? "failed" : "rejected"; // failed: it was received
    const entry = this.state.entry(command, state, "no_journal");
    this.state.keep(entry);
    this.link.send("acks", encoded(this.state.ack(entry)));
  }

  // --- commands: first the journal, then the ACK, then the action ---

  async #onCommand(command, end) {
    const known = this.state.journal.get(command.id);
    if (known) return void this.link.send("acks", encoded(this.state.ack(known)));
    const refusal = this.state.refusal(command, performance.now() >= end);
    if (refusal) return void (await this.#move(this.state.entry(command, "rejected", refusal)));
    const received = this.state.entry(command, "received");
    await this.#move(received);
    const { told } = await this.#move({ ...received, state: "running" });
    await Promise.race([told, after(ANSWER_MS)]);
    this.#act(received);
  }

  async #move(entry) {
    const stamp = this.state.stamp("acks");
    const { install_id, boot_seq, seq } = stamp;
    const kept = { ...entry, install_id, boot_seq, seq };
    await this.disk.write("journal", kept.order, kept);
    const old = this.state.keep(kept).map(({ order }) => order);
    if (old.length) this.disk.remove("journal", old).catch(() => {});
    return { told: this.link.send("acks", encoded(this.state.ack(kept, stamp))) };
  }

  /** Reload the page. Report a failure if it still runs after half a minute. */
  async #act(entry) {
    this.state.status = "starting";
    location.reload();
    await after(RELOAD_MS);
    this.state.status = "running";
    await this.#move({ ...entry, state: "failed", reason: "the_page_did_not_end" }).catch(() => {});
  }
}

/** The counters of this start, stored before the first message. */
async function identity(disk) {
  const before = (await disk.read("installation")) ?? { install_id: randomWord(), boot_seq: 0 };
  let now = { ...before, boot_seq: before.boot_seq + 1 };
  await disk.write("kept", "installation", now).catch(() => {
    now = { install_id: randomWord(), boot_seq: 1 }; // a full disk cannot count the start: use a new installation
  });
  sessionStorage.bootId ??= randomWord(); // a reload keeps it, a new browser window does not
  return { ...now, boot_id: sessionStorage.bootId, app_instance: randomWord() };
}

/** Exchange the code for a login. Throws TypeError while the gateway is unreachable. */
async function redeemed(code) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) };
  const answer = await fetch("/api/enroll", { ...request, credentials: "omit" });
  if (answer.ok) return await answer.json();
  if (answer.status === 429 || answer.status >= 500) throw new TypeError(`the gateway answered ${answer.status}`);
  return null;
}

/** The stored login, or a new one if the address has a new code. */
async function login(disk) {
  for (let attempt = 0; ; attempt++) {
    const code = options.get("code");
    const stored = await disk.read("login");
    if (!code || stored?.code === code) return stored;
    try {
      const found = await redeemed(code);
      if (!found) return stored;
      const kept = { uuid: found.uuid, password: found.password, topic_root: found.topic_root, code };
      await disk.write("kept", "login", kept).catch(() => {}); // with a full disk the login lasts until the page ends
      return kept;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      await after(Math.min(30_000, 1_000 * 2 ** attempt) * (0.5 + Math.random() / 2));
    }
  }
}

/** Wait until no other page of this browser is connected: two would end each other's session. Needs Web Locks. */
async function alone() {
  if (!navigator.locks) return false;
  const held = (options, go) =>
    new Promise((has) => navigator.locks.request("signage-display", options, (lock) => go(lock, has)));
  const forever = new Promise(() => {});
  const isFree = await held({ ifAvailable: true }, (lock, has) => (has(lock !== null), lock && forever));
  if (!isFree) await held({}, (_lock, has) => (has(), forever));
  return !isFree;
}

/**
 * Use `show` only with a login, so that nobody can show another page at our address to a person. A page of our own origin
 * could read the login.
 */
async function show(disk, display) {
  const asked = options.get("show") ?? (await disk.read("show"));
  if (!/^https?:/.test(asked ?? "")) return;
  if (originOf(asked) === location.origin) {
    return display.log("error", "The page to show must not be at this service's address.", { page: asked });
  }
  await disk.write("kept", "show", asked).catch(() => {});
  frame.src = asked;
  document.body.append(frame);
}

function originOf(address) {
  try {
    return new URL(address, location.href).origin; // as the frame would read it: "https:x" is a page of ours
  } catch {
    return null;
  }
}

/** Messages of the shown page: `parent.postMessage({signage: "log", level, message, context}, "*")`. */
function hear(display, { source, data }) {
  if (source !== frame.contentWindow || !data) return;
  const { signage, level, message, context, status } = data;
  if (signage === "log" && LEVELS.includes(level)) display.log(level, String(message), plain(context));
  if (signage !== "status" || !STATUS.includes(status) || display.state.status === status) return;
  display.state.status = status;
  display.heartbeat();
}

/** The object if JSON can represent it; otherwise an empty one. */
function plain(value) {
  try {
    const copy = JSON.parse(JSON.stringify(value));
    return copy && typeof copy === "object" && !Array.isArray(copy) ? copy : {};
  } catch {
    return {};
  }
}

async function start() {
  const hasWaited = await alone();
  const disk = await Disk.open().catch(() => new NoDisk());
  const own = await login(disk);
  document.body.textContent = own ? "" : "This display has no login. Open /display/?code=CODE with a new code.";
  if (!own) return;
  const able = disk instanceof NoDisk ? [] : ["restart_app"];
  const state = new State(await identity(disk), await disk.all("journal"), able, HEARTBEAT_MS / 1000);
  const display = new Display(disk, own, state, await disk.all("spool"), hasWaited);
  addEventListener("message", (said) => hear(display, said));
  addEventListener("unhandledrejection", ({ reason }) => display.log("error", String(reason), {}));
  await display.begin();
  await show(disk, display);
}

start();
