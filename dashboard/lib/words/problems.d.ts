// Generated from shared/words/*/page/problems.ftl
export const problemWords: {
  refused: {
    command_in_flight: string;
    not_capable: string;
    forbidden: string;
    internal_error: string;
    api_timeout: string;
  } & Record<string, string>;
  unreachable: string;
  reference: (facts: { of: string }) => string;
};
