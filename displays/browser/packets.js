// The MQTT 5 packets that a display sends and receives. Own code, because mqtt.js alone is several times larger than
// the limit of the whole client, 15 KB. https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html

export const LARGEST_PACKET_BYTES = 65_536;
const SESSION_EXPIRY = 0x11;
const MESSAGE_EXPIRY = 0x02;
const WILL_DELAY = 0x18;
const RECEIVE_MAXIMUM = 0x21;
const MAXIMUM_PACKET_SIZE = 0x27;
const SERVER_KEEP_ALIVE = 0x13;

// The encoding of each property: a number of bytes, "text", "bytes", "pair", "length".
const PROPERTIES = new Map([
  ...[0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2a].map((name) => [name, 1]),
  ...[0x13, 0x21, 0x22, 0x23].map((name) => [name, 2]),
  ...[0x02, 0x11, 0x18, 0x27].map((name) => [name, 4]),
  ...[0x03, 0x08, 0x12, 0x15, 0x1a, 0x1c, 0x1f].map((name) => [name, "text"]),
  ...[0x09, 0x16].map((name) => [name, "bytes"]),
  [0x26, "pair"],
  [0x0b, "length"],
]);

/** The other side broke a rule of MQTT: the connection ends. */
export class Malformed extends Error {}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

const number = (value, bytes) => Array.from({ length: bytes }, (_, at) => (value / 256 ** (bytes - 1 - at)) & 255);
const text = (value) => withLength(encoder.encode(value));
const withLength = (bytes) => [...number(bytes.length, 2), ...bytes];
const property = (name, value) => [name, ...number(value, PROPERTIES.get(name))];

function length(value) {
  const bytes = [];
  do {
    bytes.push((value % 128) | (value >= 128 ? 128 : 0));
    value = Math.floor(value / 128);
  } while (value);
  return bytes;
}

const packet = (first, ...parts) => {
  const body = parts.flat();
  return Uint8Array.from([first, ...length(body.length), ...body]);
};
const properties = (...found) => [...length(found.flat().length), ...found.flat()];

/** `will`: topic, payload (bytes), delay. Session expiry and keepalive are in seconds. */
export const connect = ({ id, password, keepalive, sessionExpiry, will }) =>
  packet(
    0x10,
    text("MQTT"),
    [5, 0b1110_1100], // user name, password, will retained with QoS 1, no clean start
    number(keepalive, 2),
    properties(property(SESSION_EXPIRY, sessionExpiry), property(MAXIMUM_PACKET_SIZE, LARGEST_PACKET_BYTES)),
    text(id),
    properties(property(WILL_DELAY, will.delay)),
    text(will.topic),
    withLength(will.payload),
    text(id),
    text(password),
  );

/** QoS 1, retain as published, no retained messages at the subscription. */
export const subscribe = (id, topics) =>
  packet(0x82, number(id, 2), properties(), ...topics.map((topic) => [...text(topic), 0b10_1001]));

export const publish = (id, topic, payload, { retain = false, expiry = null, again = false } = {}) =>
  packet(
    0x32 | (retain ? 1 : 0) | (again ? 8 : 0),
    text(topic),
    number(id, 2),
    properties(...(expiry === null ? [] : [property(MESSAGE_EXPIRY, expiry)])),
    [...payload],
  );

export const puback = (id) => packet(0x40, number(id, 2));
export const ping = () => packet(0xc0);
export const disconnect = (sessionExpiry) => packet(0xe0, [0], properties(property(SESSION_EXPIRY, sessionExpiry)));

/** Reads the body of one packet. A read past its end throws Malformed. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  get left() {
    return this.bytes.length - this.at;
  }
  take(size) {
    if (size > this.left) throw new Malformed("the packet ends too early");
    return this.bytes.subarray(this.at, (this.at += size));
  }
  number(size) {
    return this.take(size).reduce((sum, byte) => sum * 256 + byte, 0);
  }
  text() {
    try {
      return decoder.decode(this.take(this.number(2)));
    } catch (error) {
      throw error instanceof Malformed ? error : new Malformed("text that is no UTF-8");
    }
  }
  length() {
    for (let value = 0, power = 1, bytes = 0; bytes < 4; bytes++, power *= 128) {
      const byte = this.number(1);
      value += (byte & 127) * power;
      if (byte < 128) return value;
    }
    throw new Malformed("a length of more than four bytes");
  }
  value(kind) {
    if (kind === "text") return this.text();
    if (kind === "bytes") return this.take(this.number(2));
    if (kind === "pair") return [this.text(), this.text()];
    return kind === "length" ? this.length() : this.number(kind);
  }
  properties() {
    if (!this.left) return new Map();
    const inside = new Reader(this.take(this.length()));
    const found = new Map();
    while (inside.left) {
      const name = inside.length();
      if (!PROPERTIES.has(name)) throw new Malformed(`property ${name}`);
      found.set(name, inside.value(PROPERTIES.get(name)));
    }
    return found;
  }
}

function read(first, body) {
  const reader = new Reader(body);
  const flags = first & 15;
  const type = first >> 4;
  if (type === 3) return message(flags, reader);
  if (flags) throw new Malformed("flags that must be 0");
  if (type === 2) {
    const resumed = reader.number(1) === 1;
    const reason = reader.number(1);
    const told = reader.properties();
    const window = told.get(RECEIVE_MAXIMUM) ?? 65_535;
    return { type: "connack", resumed, reason, window, keepalive: told.get(SERVER_KEEP_ALIVE) };
  }
  if (type === 4) return { type: "puback", id: reader.number(2), reason: reader.left ? reader.number(1) : 0 };
  if (type === 9) {
    const id = reader.number(2);
    reader.properties();
    return { type: "suback", id, reasons: [...reader.take(reader.left)] };
  }
  if (type === 13) return { type: "pong" };
  if (type === 14) return { type: "disconnect", reason: reader.left ? reader.number(1) : 0 };
  throw new Malformed(`packet type ${type}`);
}

function message(flags, reader) {
  const qos = (flags >> 1) & 3;
  if (qos > 1) throw new Malformed(`QoS ${qos}`);
  const topic = reader.text();
  const id = qos ? reader.number(2) : null;
  if (!topic || id === 0) throw new Malformed("a message without its topic or number");
  const expiry = reader.properties().get(MESSAGE_EXPIRY) ?? null;
  return { type: "publish", topic, id, expiry, retain: (flags & 1) === 1, payload: reader.take(reader.left) };
}

/** Splits a byte stream into packets. After `feed` has thrown Malformed it cannot be used again. */
export class Decoder {
  #rest = new Uint8Array(0);

  feed(bytes) {
    const joined = new Uint8Array(this.#rest.length + bytes.length);
    joined.set(this.#rest);
    joined.set(bytes, this.#rest.length);
    const found = [];
    let at = 0;
    for (let next; (next = sizes(joined, at)); at = next.end) {
      if (next.end - at > LARGEST_PACKET_BYTES) throw new Malformed("a packet that is too large");
      if (next.end > joined.length) break;
      found.push(read(joined[at], joined.subarray(next.begin, next.end)));
    }
    this.#rest = joined.slice(at);
    return found;
  }
}

/** The place of the body of the packet at `at`; null while its length is incomplete. */
function sizes(bytes, at) {
  for (let value = 0, index = 0; at + 1 + index < bytes.length; index++) {
    if (index > 3) throw new Malformed("a length of more than four bytes");
    const byte = bytes[at + 1 + index];
    value += (byte & 127) * 128 ** index;
    if (byte < 128) return { begin: at + 2 + index, end: at + 2 + index + value };
  }
  return null;
}
