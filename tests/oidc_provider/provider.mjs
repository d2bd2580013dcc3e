// oidc-provider as a company's sign-in: one client, people from the command line, its own pages for login and consent.
//   node provider.mjs '{"port": 1, "client": {...}, "people": {"cora": {"groups": [...]}}}'
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const { port, client, people } = JSON.parse(process.argv[2]);
const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
const provider = new Provider(`http://localhost:${port}`, {
  clients: [client],
  jwks: { keys: [{ ...key, use: "sig", alg: "RS256", kid: "first" }] },
  cookies: { keys: ["for one test"] },
  pkce: { required: () => true },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups", "shops"] },
  findAccount: (_, id) =>
    people[id] && { accountId: id, claims: () => ({ sub: id, preferred_username: id, ...people[id] }) },
});
provider.listen(port, "127.0.0.1");
