// Generated from shared/words/ja/page/empty_sites.ftl
export const emptySitesWords = {
  none: ({ sites }) => `拠点 ${sites} にディスプレイはありません`,
};
