// Generated from shared/words/de/page/taken.ftl
export const takenWords = {
  take: "Ich kümmere mich darum",
  takeOf: ({ name }) => `Ich kümmere mich darum: ${name}`,
  mine: ({ since }) => `Sie kümmern sich seit ${since} darum.`,
  theirs: ({ who, since }) => `${who} kümmert sich seit ${since} darum.`,
  takeOver: "Übernehmen",
  giveBack: "Abgeben",
  writeNote: "Notiz…",
};
