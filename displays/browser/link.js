// The session with the broker over WebSockets; it reconnects after a loss.

import { Decoder, Malformed, connect, disconnect, ping, puback, publish, subscribe } from "./packets.js";
import { KINDS, encoded, randomWord } from "./state.js";

const KEEPALIVE_SECONDS = 60;
const SESSION_EXPIRY_SECONDS = 30;
const WILL_DELAY_SECONDS = 20;
const LOOK_MS = 5_000;
const ANSWER_MS = 10_000;
const NO_SUBSCRIBERS = 0x10;
const TAKEN_OVER = 0x8e;
const MOST_KEPT = 256;
const DOWNWARD = ["commands", "logs_committed", "log_level"];

/** Back-off: doubles from 0.5 s to 30 s; each wait is shortened by up to half at random. */
export const backoffMs = (attempt, random = Math.random()) =>
  Math.min(30_000, 250 * 2 ** Math.min(attempt, 10)) * (0.5 + random / 2);

export class Link {
  up = false;
  #kept = []; // ACKs without a PUBACK
  #attempt = 0;
  #closed = false;

  /** `hears` has onUp(), onDown(), onMessage(name, payload, expirySeconds). */
  constructor(url, login, hears) {
    this.url = url;
    this.login = login;
    this.hears = hears;
    this.prefix = `${login.topic_root}/${login.uuid}/`;
  }

  open() {
    this.#closed = false;
    const ended = (why) => this.#ended(why);
    this.session = new Session(this, ended);
  }

  #ended(reason) {
    const wasUp = this.up;
    this.up = false;
    this.#kept.forEach((one) => (one.isSent = false));
    if (wasUp) this.hears.onDown();
    if (this.#closed) return;
    this.#attempt = wasUp ? 1 : this.#attempt + 1;
    // Another device uses this login. If both reconnected at once, they would end each other's session for ever.
    const pause = reason === TAKEN_OVER ? 30_000 + backoffMs(10) : backoffMs(this.#attempt);
    setTimeout(() => this.#closed || this.open(), pause);
  }

  cameUp() {
    this.up = true;
    this.sendKeptAgain();
    this.hears.onUp();
  }

  /** Resolves to the reason code of the PUBACK, or to null after a lost connection. */
  send(kind, payload, level = "") {
    if (payload.length > KINDS[kind].most) return Promise.resolve(null);
    if (!KINDS[kind].kept) return this.up ? this.session.publish(kind, payload, level) : Promise.resolve(null);
    const one = { kind, payload, isSent: false };
    this.#kept = [...this.#kept, one].slice(-MOST_KEPT);
    return this.up ? this.#sendKept(one) : Promise.resolve(null);
  }

  sendKeptAgain() {
    if (this.up) this.#kept.filter((one) => !one.isSent).forEach((one) => this.#sendKept(one));
  }

  async #sendKept(one) {
    one.isSent = true;
    const reason = await this.session.publish(one.kind, one.payload);
    one.isSent = false;
    if (reason !== null && reason !== NO_SUBSCRIBERS) this.#kept = this.#kept.filter((other) => other !== one);
    return reason;
  }

  /** Call it when the page wakes up or the network is back. */
  look() {
    this.session?.look();
  }

  /** Leave on purpose: send presence offline, wait for its PUBACK, end the session. */
  async close(reason) {
    this.#closed = true;
    if (this.up) await Promise.race([this.session.say("offline", reason), new Promise((go) => setTimeout(go, 2_000))]);
    this.session?.leave();
  }
}

class Session {
  #word = randomWord(8);
  #decoder = new Decoder();
  #waiting = new Map(); // packet id -> resolve function of its promise
  #queue = []; // messages that wait because of the broker's Receive Maximum
  #window = 1;
  #lastId = 0;
  #lookedAt = performance.now();
  #deadline = performance.now() + ANSWER_MS; // for the next packet of the broker

  constructor(link, ended) {
    this.link = link;
    this.ended = ended;
    this.reason = 0;
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.socket = new WebSocket(link.url, "mqtt");
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.#write(this.#connect());
    this.socket.onmessage = ({ data }) => this.#heard(data);
    this.socket.onclose = () => this.end();
  }

  #connect() {
    const { uuid: id, password } = this.link.login;
    const payload = encoded(this.#presence("offline", "connection_lost"));
    const will = { topic: `${this.link.prefix}presence`, payload, delay: WILL_DELAY_SECONDS };
    return connect({ id, password, keepalive: KEEPALIVE_SECONDS, sessionExpiry: SESSION_EXPIRY_SECONDS, will });
  }

  #presence = (state, reason) => ({ state, session: this.#word, reason });
  say = (state, reason) => this.publish("presence", encoded(this.#presence(state, reason)));

  publish(kind, payload, level = "") {
    return new Promise((resolve) => {
      if (!this.timer) return resolve(null);
      this.#queue.push({ kind, payload, level, resolve });
      this.#pump();
    });
  }

  #pump() {
    while (this.#queue.length && this.#waiting.size < this.#window) {
      const { kind, payload, level, resolve } = this.#queue.shift();
      const id = this.#nextId();
      this.#waiting.set(id, resolve);
      const topic = this.link.prefix + (level ? `${kind}/${level}` : kind);
      this.#write(publish(id, topic, payload, KINDS[kind]));
    }
  }

  #nextId() {
    do this.#lastId = (this.#lastId % 65_535) + 1;
    while (this.#waiting.has(this.#lastId));
    return this.#lastId;
  }

  #write(bytes) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(bytes);
  }

  #heard(data) {
    if (!this.timer) return;
    this.#deadline = Infinity;
    try {
      for (const packet of this.#decoder.feed(new Uint8Array(data))) this.#take(packet);
    } catch (error) {
      if (!(error instanceof Malformed || error instanceof TypeError)) throw error;
      this.end();
    }
  }

  #take(packet) {
    if (packet.type === "connack") {
      if (packet.reason >= 0x80) return this.end();
      this.#window = Math.max(1, packet.window);
      this.#lastId = 1;
      this.#write(
        subscribe(
          1,
          DOWNWARD.map((name) => this.link.prefix + name),
        ),
      );
    } else if (packet.type === "suback") {
      if (packet.reasons.some((one) => one >= 0x80)) return this.end();
      this.say("online", "connected");
      this.link.cameUp();
    } else if (packet.type === "puback") {
      this.#waiting.get(packet.id)?.(packet.reason);
      this.#waiting.delete(packet.id);
      this.#pump();
    } else if (packet.type === "publish") {
      if (packet.id) this.#write(puback(packet.id));
      const { topic, payload, expiry, retain } = packet;
      if (!retain && topic.startsWith(this.link.prefix)) {
        this.link.hears.onMessage(topic.slice(this.link.prefix.length), payload, expiry);
      }
    } else if (packet.type === "disconnect") {
      this.reason = packet.reason;
      this.end();
    }
  }

  /** Send PINGREQ. After sleep, first give the broker the time for an answer. */
  look() {
    const now = performance.now();
    if (now > this.#deadline && now - this.#lookedAt < 2 * LOOK_MS) return this.end();
    this.#lookedAt = now;
    if (this.#deadline === Infinity || now > this.#deadline) {
      this.#deadline = now + 2 * ANSWER_MS;
      this.#write(ping());
    }
  }

  leave() {
    this.#write(disconnect(0));
    this.end();
  }

  end() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.socket.close();
    [...this.#waiting.values(), ...this.#queue.map((one) => one.resolve)].forEach((resolve) => resolve(null));
    this.ended(this.reason);
  }
}
