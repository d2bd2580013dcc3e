// Generated from shared/words/*/page/session.ftl
export const sessionWords: {
  user: string;
  password: string;
  show: string;
  go: string;
  going: string;
  wrong: string;
  code: string;
  codeHow: string;
  codeWrong: string;
  wait: (facts: { left: string }) => string;
  endedElsewhere: string;
  again: string;
  againWhy: string;
  goTo: (facts: { name: string }) => string;
  or: string;
  reasons: {
    denied_by_provider: string;
    groups_left_out: string;
    last_admin: string;
    no_role_at_provider: string;
    no_site_at_provider: string;
    person_disabled: string;
    provider_unavailable: string;
    too_many_attempts: string;
    try_over: string;
  } & Record<string, string>;
  someReason: string;
  byProxy: string;
};
