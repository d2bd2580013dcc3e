// The state and the decisions of the display, without disk and network. It uses the time of day only for stamps.

const JOURNAL_SIZE = 256;
const OUTCOMES = ["succeeded", "failed", "rejected"];
const ACTIONS = ["restart_app", "reboot_host", "shutdown_host"]; // all actions of the contract
export const LEVELS = ["debug", "info", "warning", "error", "critical"];
export const KINDS = {
  heartbeat: { expiry: 30, most: 1024 },
  health: { expiry: 300, most: 8192 },
  logs: { most: 16_384 },
  acks: { expiry: 86_400, most: 4096, kept: true },
  presence: { retain: true, most: 512 },
};
const MOST_DOWNWARD_BYTES = 1024;

export const isText = (value, most) => typeof value === "string" && value.length > 0 && value.length <= most;
const isNumber = (value) => Number.isSafeInteger(value) && value >= 0;

/** A random word. `crypto.randomUUID` would need a secure context. */
export function randomWord(bytes = 16) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((one) => one.toString(16).padStart(2, "0")).join("");
}

/** The object in a message from the service; null for other payloads. */
export function documentOf(payload) {
  if (payload.length > MOST_DOWNWARD_BYTES) return null;
  try {
    const found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    return found && typeof found === "object" && !Array.isArray(found) ? found : null;
  } catch {
    return null;
  }
}

export const isOpen = (entry) => !OUTCOMES.includes(entry.state);

export class State {
  #seq = {};
  #refused = new Map(); // topic -> why its last message was not taken, until when
  #level = null;

  /** `identity`: install_id, boot_seq, boot_id, app_instance. `journal`: the entries on the disk, in order. */
  constructor(identity, journal, capabilities, intervalSeconds) {
    Object.assign(this, { identity, capabilities, intervalSeconds });
    this.journal = new Map(journal.map((entry) => [entry.id, entry]));
    this.status = "running";
    this.reconnects = 0;
    this.lostAt = null;
    this.moves = 0;
  }

  stamp(kind) {
    const { install_id, boot_seq } = this.identity;
    const seq = (this.#seq[kind] = (this.#seq[kind] ?? 0) + 1);
    return { install_id, boot_seq, seq, ts: new Date().toISOString() };
  }

  /** Whether a mark is at most the highest used number. A higher one is from another history of this installation. */
  isMine(mark) {
    if (!isText(mark.install_id, 128) || !isNumber(mark.boot_seq) || !isNumber(mark.seq)) return false;
    const { install_id, boot_seq } = this.identity;
    return mark.install_id !== install_id || mark.boot_seq !== boot_seq || mark.seq <= (this.#seq.logs ?? 0);
  }

  /** Why a command must not run; null when it may. */
  refusal(command, isLate) {
    const { boot_id, app_instance } = this.identity;
    const { v = 1, action, if_boot_id = null, if_app_instance = null } = command;
    if (v !== 1) return "unsupported_version";
    if (!ACTIONS.includes(action)) return "unknown_action";
    if (!this.capabilities.includes(action)) return "not_capable";
    if (isLate) return "expired";
    if (if_boot_id !== null && if_boot_id !== boot_id) return "precondition_failed";
    if (if_app_instance !== null && if_app_instance !== app_instance) return "precondition_failed";
    return [...this.journal.values()].some(isOpen) ? "busy" : null;
  }

  /** A new entry. Write it to the disk, then add it to the journal with `keep`. */
  entry(command, state, reason = null) {
    const { id, action, traceparent } = command;
    const { boot_id, app_instance, boot_seq } = this.identity;
    const trace = isText(traceparent, 128) ? traceparent : null;
    return { id, action, state, reason, boot_id, app_instance, traceparent: trace, order: [boot_seq, ++this.moves] };
  }

  /** The old entries to delete when this one is added. */
  keep(entry) {
    this.journal.set(entry.id, entry);
    const old = [...this.journal.values()].slice(0, -JOURNAL_SIZE);
    old.forEach(({ id }) => this.journal.delete(id));
    return old;
  }

  /** The outcome of a command that was open when the page ended. A page that only waited did not restart. */
  settled(entry, hasWaited) {
    const { boot_id, app_instance } = this.identity;
    const done = {
      restart_app: entry.app_instance !== app_instance && !hasWaited,
      reboot_host: entry.boot_id !== boot_id,
      shutdown_host: entry.state === "running",
    }[entry.action];
    return done ? { ...entry, state: "succeeded", reason: null } : { ...entry, state: "failed", reason: "interrupted" };
  }

  ack({ id, state, reason, traceparent }, stamp = this.stamp("acks")) {
    const { boot_id, app_instance } = this.identity;
    return { ...stamp, id, state, reason, boot_id, app_instance, traceparent };
  }

  heartbeat() {
    const { boot_id, app_instance } = this.identity;
    const last = [...this.journal.values()].at(-1);
    return {
      ...this.stamp("heartbeat"),
      boot_id,
      app_instance,
      process_status: this.status,
      interval_seconds: this.intervalSeconds,
      last_command: last ? { id: last.id, state: last.state } : null,
    };
  }

  health(vitals, now) {
    const told = ({ id, state, reason, install_id, boot_seq, seq }) => ({
      id,
      state,
      reason,
      install_id,
      boot_seq,
      seq,
    });
    return {
      ...this.stamp("health"),
      ...vitals,
      log_level: this.level(now),
      service_failed: null,
      recent_acks: [...this.journal.values()].slice(-8).map(told),
      capabilities: this.capabilities,
      refused: [...this.#refused].filter(([, { end }]) => now < end).map(([what, { reason }]) => ({ what, reason })),
      broker_connection: { reconnect_count: this.reconnects, last_disconnect_at: this.lostAt },
    };
  }

  /** Take a log level. Returns why it is not taken; null when it is. */
  order({ level, until }, now) {
    if (!isText(level, 16) || !isNumber(until)) return "not_understood";
    if (!LEVELS.includes(level)) return "unknown_level";
    this.#level = { level, end: now + Math.min(until, 604_800) * 1000 };
    return null;
  }

  /** Note for the health reports of the next hour why a message was not taken; null: it was. */
  note(topic, reason, now) {
    if (reason) this.#refused.set(topic, { reason, end: now + 3_600_000 });
    else this.#refused.delete(topic);
  }

  level(now) {
    return this.#level && now < this.#level.end ? this.#level.level : "info";
  }

  log(level, message, context) {
    const stamp = this.stamp("logs");
    const body = { ...stamp, message: message.slice(0, 8192), logger: "page", context };
    if (message.length > 8192) body.truncated = true;
    while (encoded(body).length > KINDS.logs.most) {
      Object.assign(body, { context: {}, truncated: true, message: body.message.slice(0, body.message.length * 0.75) });
    }
    return { level, key: [stamp.boot_seq, stamp.seq], install_id: stamp.install_id, payload: encoded(body) };
  }
}

/** JSON in UTF-8; a lone surrogate becomes U+FFFD. */
export const encoded = (body) => new TextEncoder().encode(JSON.stringify(body).replace(/\\ud[89a-f]../g, "\ufffd"));
