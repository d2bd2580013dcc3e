import assert from "node:assert/strict";
import test from "node:test";
import { addressOf, kindOf, serviceOf } from "../lib/channel_address.js";

const MAIL = { server: "smtp.shop.example", from: "signage@shop.example", to: "a@shop.example, b+c@shop.example" };
const TO = "to=a%40shop.example%2Cb%2Bc%40shop.example";

test("a mail has server, port, sender and receivers, and its login is escaped", () => {
  const more = `/?smtp=smtp.shop.example&from=signage%40shop.example&${TO}`;
  const login = { user: "anna@shop.example", password: "p@ss/?#%" };

  assert.equal(
    addressOf("mail", { ...MAIL, ...login, security: "starttls" }),
    `mailtos://anna%40shop.example:p%40ss%2F%3F%23%25@smtp.shop.example:587${more}&mode=starttls`,
  );
  assert.equal(
    addressOf("mail", { ...MAIL, security: "ssl", port: "8465" }),
    `mailtos://smtp.shop.example:8465${more}&mode=ssl`,
  );
  assert.equal(
    addressOf("mail", { ...MAIL, security: "insecure" }),
    `mailto://smtp.shop.example:25${more}&mode=insecure`,
  );
});

test("the webhook of Slack becomes its three parts", () => {
  const url = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ";

  assert.equal(addressOf("slack", { url }), "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/");
});

test("both forms of a workflow of Teams are read", () => {
  const query = "api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=KODu-eb";
  const rest = `triggers/manual/paths/invoke?${query}`;
  const powerful = "https://d0.12.environment.api.powerplatform.com:443/powerautomate/automations/direct";

  assert.equal(
    addressOf("teams", { url: `https://prod-15.westeurope.logic.azure.com:443/workflows/643e69/${rest}` }),
    `workflows://prod-15.westeurope.logic.azure.com:443/643e69/?${query}`,
  );
  assert.equal(
    addressOf("teams", { url: `${powerful}/workflows/643e69/${rest}` }),
    `workflows://d0.12.environment.api.powerplatform.com:443/643e69/?${query}&pa=yes`,
  );
  assert.equal(
    addressOf("teams", { url: `${powerful}/cu/07/workflows/643e69/${rest}` }),
    `workflows://d0.12.environment.api.powerplatform.com:443/643e69/?${query}&pa=yes&route=07`,
  );
});

test("a bot of Telegram writes to chats and channels", () => {
  assert.equal(
    addressOf("telegram", { token: "123456789:abc_DEF-g", chats: "-1001234567, @shops" }),
    "tgram://123456789:abc_DEF-g/-1001234567/@shops/",
  );
});

test("what looks like nothing known stays as it is for the API to refuse", () => {
  for (const service of /** @type {const} */ (["slack", "teams", "webhook", "apprise"]))
    assert.equal(addressOf(service, { url: "https://elsewhere.example/x" }), "https://elsewhere.example/x");
});

test("a saved channel is recognised by the address without secrets", () => {
  const cases = { "mailtos://…": "mail", "slack://…": "slack", "workflows://…": "teams", "tgram://…": "telegram" };
  for (const [address, service] of Object.entries(cases))
    assert.equal(serviceOf({ kind: "apprise", address }), service);
  assert.equal(serviceOf({ kind: "apprise", address: "ntfy://…" }), "apprise");
  assert.equal(serviceOf({ kind: "webhook", address: "https://hooks.example.org/…" }), "webhook");
  assert.deepEqual([kindOf("webhook"), kindOf("mail")], ["webhook", "apprise"]);
});
