// Generated from shared/words/*/page/wall.ftl
export const wallWords: {
  bridge: string;
  leave: string;
  mended: (facts: { n: number }) => string;
};
