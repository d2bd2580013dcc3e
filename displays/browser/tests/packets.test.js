import assert from "node:assert/strict";
import test from "node:test";
import {
  Decoder,
  LARGEST_PACKET_BYTES,
  Malformed,
  connect,
  disconnect,
  ping,
  puback,
  publish,
  subscribe,
} from "../packets.js";

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const bytes = (text) => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
const heard = (text) => new Decoder().feed(bytes(text));

test("a CONNECT is written byte by byte as section 3.1 says", () => {
  const will = { topic: "t", payload: Uint8Array.of(0x7b, 0x7d), delay: 20 };

  const written = connect({ id: "me", password: "pw", keepalive: 60, sessionExpiry: 30, will });

  const flags = "00 04 4d 51 54 54 05 ec 00 3c";
  const properties = "0a 11 00 00 00 1e 27 00 01 00 00";
  const payload = "00 02 6d 65 05 18 00 00 00 14 00 01 74 00 02 7b 7d 00 02 6d 65 00 02 70 77";
  assert.equal(hex(written), hex(bytes(`10 2e ${flags} ${properties} ${payload}`)));
});

test("the other packets are written as sections 3.3 to 3.14 say", () => {
  assert.equal(hex(subscribe(1, ["a/b"])), "820900010000" + "03612f6229");
  assert.equal(
    hex(publish(7, "a", Uint8Array.of(1), { expiry: 30 })),
    "320c" + "000161" + "0007" + "05020000001e" + "01",
  );
  assert.equal(hex(publish(7, "a", [], { retain: true })), "3306000161000700");
  assert.equal(hex(puback(258)), "40020102");
  assert.equal(hex(ping()), "c000");
  assert.equal(hex(disconnect(0)), "e007" + "00" + "05" + "1100000000");
});

test("a length has one to four bytes, with the bounds of table 1-1", () => {
  for (const [payload, written] of [
    [122, "7f"],
    [123, "8001"],
    [16_378, "ff7f"],
    [16_379, "808001"],
  ]) {
    assert.equal(hex(publish(1, "", new Uint8Array(payload)).subarray(1, 1 + written.length / 2)), written);
  }
});

test("what the broker says is read, with and without its reason", () => {
  assert.deepEqual(heard("20 06 01 00 03 21 00 14"), [
    { type: "connack", resumed: true, reason: 0, window: 20, keepalive: undefined },
  ]);
  assert.deepEqual(heard("40 02 00 07"), [{ type: "puback", id: 7, reason: 0 }]);
  assert.deepEqual(heard("40 03 00 07 10"), [{ type: "puback", id: 7, reason: 0x10 }]);
  assert.deepEqual(heard("90 05 00 01 00 01 87"), [{ type: "suback", id: 1, reasons: [1, 0x87] }]);
  assert.deepEqual(heard("d0 00"), [{ type: "pong" }]);
  assert.deepEqual(heard("e0 02 8e 00"), [{ type: "disconnect", reason: 0x8e }]);
  const [message] = heard("33 0d 00 01 61 00 07 05 02 00 00 00 1e 68 69");
  assert.deepEqual(
    { ...message, payload: hex(message.payload) },
    {
      type: "publish",
      topic: "a",
      id: 7,
      expiry: 30,
      retain: true,
      payload: "6869",
    },
  );
});

test("packets are the same however the bytes are cut", () => {
  const whole = bytes("20 03 00 00 00 33 0d 00 01 61 00 07 05 02 00 00 00 1e 68 69 d0 00 40 02 00 07");
  const expected = new Decoder().feed(whole).map(({ type }) => type);

  for (let size = 1; size < whole.length; size++) {
    const decoder = new Decoder();
    const found = [];
    for (let at = 0; at < whole.length; at += size) found.push(...decoder.feed(whole.subarray(at, at + size)));
    assert.deepEqual(
      found.map(({ type }) => type),
      expected,
    );
  }
  assert.deepEqual(expected, ["connack", "publish", "pong", "puback"]);
});

test("what breaks a rule is refused by name and never read past its end", () => {
  const hostile = {
    "a length of five bytes": "30 ff ff ff ff 01",
    "a packet larger than announced": "30 ff ff ff 7f",
    "a reserved type": "f0 00",
    "a packet that only clients send": "10 00",
    "flags that must be 0": "41 02 00 07",
    "QoS 2": "34 06 00 01 61 00 07 00",
    "QoS 3": "36 06 00 01 61 00 07 00",
    "packet id 0": "32 06 00 01 61 00 00 00",
    "no topic": "32 05 00 00 00 07 00",
    "a topic longer than the packet": "30 03 ff ff 61",
    "a topic that is no UTF-8": "30 05 00 02 c3 28 00",
    "an unknown property": "20 05 00 00 02 7f 00",
    "properties longer than the packet": "20 03 00 00 7f",
    "a property cut short": "20 05 00 00 02 21 00",
    "an empty CONNACK": "20 00",
    "an empty PUBACK": "40 00",
  };
  for (const [what, text] of Object.entries(hostile)) assert.throws(() => heard(text), Malformed, what);
});

test("ten thousand pieces of noise end in packets or Malformed, and never keep more than one packet", () => {
  let seed = 7;
  const next = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  for (let round = 0; round < 10_000; round++) {
    const noise = Uint8Array.from({ length: 1 + Math.floor(next() * 40) }, () => Math.floor(next() * 256));
    try {
      for (const packet of new Decoder().feed(noise)) assert.equal(typeof packet.type, "string");
    } catch (error) {
      assert.ok(error instanceof Malformed, error.stack);
    }
  }
  const largest = publish(1, "a", new Uint8Array(LARGEST_PACKET_BYTES - 12));
  assert.equal(new Decoder().feed(largest)[0].topic, "a");
});
