import assert from "node:assert/strict";
import test from "node:test";
import { browserName } from "../lib/browser_name.js";

const KIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
const SENT = {
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0`]: "Edge on Windows",
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${KIT} Version/18.1 Mobile/15E148 Safari/604.1`]:
    "Safari on iOS",
  [`Mozilla/5.0 (Linux; Android 10; K) ${KIT} Chrome/131.0.0.0 Mobile Safari/537.36`]: "Chrome on Android",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0": "Firefox on macOS",
  "python-requests/2.32.3": "python-requests/2.32.3",
};

test("a browser is called as people call it", () => {
  assert.deepEqual(Object.keys(SENT).map(browserName), Object.values(SENT));
});
