// Generated from shared/words/*/page/incidents.ftl
export const incidentWords: {
  title: string;
  lead: string;
  which: string;
  open: string;
  closed: string;
  number: (facts: { id: number }) => string;
  kind: {
    site: string;
    subnet: string;
    cluster: string;
    listening: string;
  } & Record<string, string>;
  ours: string;
  are: (facts: { unwell_n: number; members_n: number }) => string;
  back: (facts: { members_n: number }) => string;
  were: (facts: { members_n: number }) => string;
  lasts: (facts: { time: string }) => string;
  lasted: (facts: { time: string }) => string;
  merged: (facts: { id: number }) => string;
  inMaintenance: (facts: { n: number }) => string;
  before: (facts: { id: number }) => string;
  displays: string;
  well: string;
  timeline: string;
  noneOpen: string;
  noneClosed: string;
  maintenance: string;
  failed: string;
  failedOne: string;
};
