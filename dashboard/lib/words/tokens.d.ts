// Generated from shared/words/*/page/tokens.ftl
export const tokenWords: {
  title: string;
  lead: string;
  none: string;
  failed: string;
  name: string;
  role: string;
  expires: string;
  expiry: (facts: { n: number }) => string;
  issue: string;
  issuing: string;
  issued: string;
  copy: string;
  lastUsed: string;
  neverUsed: string;
  byService: string;
  ends: string;
  noEnd: string;
  ended: string;
  revoked: string;
  revoke: string;
  revokeOf: (facts: { name: string }) => string;
  revokeTitle: string;
  revokeWhy: string;
};
