// Generated from shared/words/*/page/taken.ftl
export const takenWords: {
  take: string;
  takeOf: (facts: { name: string }) => string;
  mine: (facts: { since: string }) => string;
  theirs: (facts: { who: string; since: string }) => string;
  takeOver: string;
  giveBack: string;
  writeNote: string;
};
