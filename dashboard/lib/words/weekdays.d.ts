// Generated from shared/words/*/page/weekdays.ftl
export const weekdayWords: {
  monday: string;
  tuesday: string;
  wednesday: string;
  thursday: string;
  friday: string;
  saturday: string;
  sunday: string;
} & Record<string, string>;
export const dayNames: {
  monday: string;
  tuesday: string;
  wednesday: string;
  thursday: string;
  friday: string;
  saturday: string;
  sunday: string;
} & Record<string, string>;
export const hoursWords: {
  nights: (facts: { n: number }) => string;
  and: string;
};
