// Generated from shared/words/*/page/units.ftl
export const unitWords: {
  second: string;
  minute: string;
  hour: string;
  day: string;
  space: string;
  ago: (facts: { age: string }) => string;
};
