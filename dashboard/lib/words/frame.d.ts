// Generated from shared/words/*/page/frame.ftl
export const frameWords: {
  product: string;
  nav: {
    fleet: string;
    incidents: string;
    quiet: string;
    availability: string;
    batches: string;
    logs: string;
    conversions: string;
    settings: string;
    wall: string;
  } & Record<string, string>;
  api: string;
  titled: (facts: { n: number; title: string }) => string;
  skip: string;
  zone: (facts: { zone: string }) => string;
  signOut: string;
  help: string;
  updating: string;
  paused: string;
  connecting: string;
  asOf: (facts: { time: string }) => string;
  roles: {
    viewer: string;
    operator: string;
    admin: string;
  } & Record<string, string>;
  onlyFor: (facts: { sites: string }) => string;
};
