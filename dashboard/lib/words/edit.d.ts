// Generated from shared/words/*/page/edit.ftl
export const editWords: {
  button: string;
  title: string;
  name: string;
  site: string;
  tags: string;
  notes: string;
  teamNote: string;
  go: string;
  manyButton: string;
  manyTitle: string;
  many: (facts: { n: number }) => string;
  move: string;
  add: string;
  remove: string;
  left: (facts: { names: string }) => string;
  woken: (facts: { names: string }) => string;
};
