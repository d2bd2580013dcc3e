// Generated from shared/words/en/page/tokens.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const tokenWords = {
  title: "Access tokens",
  lead: "For scripts and machines. Each token has a role, is shown once, and can be revoked at any time.",
  none: "No token has been issued yet.",
  failed: "The access tokens could not be loaded.",
  name: "What it is for",
  role: "Role",
  expires: "Expires after",
  expiry: ({ n }) => n === 0 ? "never" : n === 365 ? "a year" : `${number(n)} days`,
  issue: "Issue a token",
  issuing: "Issuing…",
  issued: "Copy it now: it is not shown again.",
  copy: "Copy the token",
  lastUsed: "last used",
  neverUsed: "never used",
  byService: "by the service",
  ends: "expires",
  noEnd: "does not expire",
  ended: "Expired",
  revoked: "Revoked",
  revoke: "Revoke",
  revokeOf: ({ name }) => `Revoke the token ${name}`,
  revokeTitle: "Revoke this token?",
  revokeWhy: "Whatever uses it is refused from now on. This cannot be undone.",
};
translate("tokens", { tokenWords });
