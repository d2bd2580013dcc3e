// Generated from shared/words/*/page/people.ftl
export const peopleWords: {
  title: string;
  lead: string;
  failed: string;
  add: string;
  addTitle: string;
  addGo: string;
  name: string;
  nameHow: string;
  role: string;
  sites: string;
  sitesHow: string;
  you: string;
  signedIn: string;
  never: string;
  since: string;
  hasUntil: string;
  over: string;
  provided: (facts: { name: string }) => string;
  fromProvider: (facts: { name: string }) => string;
  someProvider: string;
  comesBack: string;
  disabled: string;
  disabledSince: string;
  moreOf: (facts: { name: string }) => string;
  ask: {
    role: {
      item: string;
      title: (facts: { name: string }) => string;
      text: string;
      go: string;
    };
    reset: {
      item: string;
      title: (facts: { name: string }) => string;
      text: string;
      go: string;
    };
    factor: {
      item: string;
      title: (facts: { name: string }) => string;
      text: string;
      go: string;
    };
    disable: {
      item: string;
      title: (facts: { name: string }) => string;
      text: string;
      go: string;
    };
    enable: {
      item: string;
      title: (facts: { name: string }) => string;
      text: string;
      go: string;
    };
    remove: {
      item: string;
      title: (facts: { name: string }) => string;
      text: string;
      go: string;
    };
  } & Record<string, {
      item: string;
      title: (facts: { name: string }) => string;
      text: string;
      go: string;
    }>;
  handOver: {
    title: (facts: { name: string }) => string;
    once: string;
    how: (facts: { name: string }) => string;
    until: string;
    copy: string;
    done: string;
  };
};
export const proxyWords: {
  lead: string;
  name: string;
  nameHow: string;
  ask: {
    role: string;
    disable: string;
    enable: string;
  } & Record<string, string>;
};
