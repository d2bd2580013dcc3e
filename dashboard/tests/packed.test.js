import assert from "node:assert/strict";
import test from "node:test";
import { unpack } from "../lib/packed.js";

const UUIDS = ["00112233-4455-6677-8899-aabbccddeeff", "ffffffff-0000-4000-8000-000000000001"];
const packedUuids = Buffer.from(UUIDS.join("").replaceAll("-", ""), "hex").toString("base64");
const NOW = "2026-11-21T12:00:00.75Z";

test("each client has its uuid and its values", () => {
  const packed = { uuid: packedUuids, name: ["one", "two"], mqtt_reconnect_count: [0, null] };

  assert.deepEqual(unpack(packed, NOW), [
    { uuid: UUIDS[0], name: "one", mqtt_reconnect_count: 0 },
    { uuid: UUIDS[1], name: "two", mqtt_reconnect_count: null },
  ]);
});

test("few different values come as words and places", () => {
  const packed = { uuid: packedUuids, site: { words: ["Basel", null], places: [1, 0] } };

  assert.deepEqual(
    unpack(packed, NOW).map((one) => one.site),
    [null, "Basel"],
  );
});

test("times count back from the second of the answer, with their fraction", () => {
  const times = (column) => unpack({ uuid: packedUuids, ...column }, NOW).map((one) => Object.values(one)[1]);

  assert.deepEqual(times({ last_heartbeat_at: [30, "0.5"] }), ["2026-11-21T11:59:30Z", "2026-11-21T12:00:00.5Z"]);
  assert.deepEqual(times({ lockout_until: [-90, null] }), ["2026-11-21T12:01:30Z", null]);
  assert.deepEqual(times({ status_since: [1795262400, 1795262401] }), ["1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z"]);
});

test("nobody changed: nothing comes", () => {
  assert.deepEqual(unpack({ uuid: "" }, NOW), []);
});
