// Generated from shared/words/*/page/limits.ftl
export const limitNames: {
  disk: string;
  memory: string;
  heat: string;
  certificate: string;
  clock: string;
  voltage: string;
  read_only: string;
  refused: string;
} & Record<string, string>;
export const limitValues: {
  share: (facts: { percent: number }) => string;
  heat: (facts: { degrees: number }) => string;
  certificate: (facts: { over: boolean; time: string }) => string;
  clock: (facts: { how: "right" | "fast" | "slow"; time: string }) => string;
  voltage: (facts: { low: boolean }) => string;
  read_only: (facts: { is: boolean }) => string;
  refused: (facts: { some: boolean }) => string;
};
export const limitTexts: {
  share: (facts: { percent: number }) => string;
  heat: (facts: { degrees: number }) => string;
  certificate: (facts: { n: number }) => string;
  clock: (facts: { time: string }) => string;
};
export const limitWords: {
  passed: string;
  stays: string;
  refused: string;
  orders: {
    commands: string;
    hours: string;
    log_level: string;
    look: string;
  } & Record<string, string>;
  reasons: {
    unknown_zone: string;
    unknown_level: string;
    unsupported_version: string;
    not_understood: string;
  } & Record<string, string>;
};
