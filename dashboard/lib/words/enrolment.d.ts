// Generated from shared/words/*/page/enrolment.ftl
export const enrolmentWords: {
  lead: string;
  emptyTitle: string;
  emptyOther: string;
  name: string;
  site: string;
  create: string;
  creating: string;
  code: string;
  uuid: string;
  until: (facts: { time: string; left: string }) => string;
  over: string;
  install: string;
  ownCa: string;
  how: string;
  then: string;
  connected: (facts: { age: string }) => string;
  qr: string;
  qrHow: string;
  copyLine: string;
};
