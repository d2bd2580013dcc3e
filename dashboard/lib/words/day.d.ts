// Generated from shared/words/*/page/day.ftl
export const dayWords: {
  week: string;
  hours: (facts: { day: string; parts: string }) => string;
  halfHours: (facts: { parts: string }) => string;
  closed: string;
  part: (facts: { n: number; word: string }) => string;
};
