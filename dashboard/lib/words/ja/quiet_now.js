// Generated from shared/words/ja/page/quiet_now.ftl
import { number } from "../../format.js";
export const quietNowWords = {
  how: {
    maintenance: "メンテナンス中",
    opening_hours: "営業時間外",
    hold: "保留中",
    leave_out: "除外中",
    snooze: "通知停止中",
    custom: "抑止中",
  },
  until: ({ time }) => `、${time}まで`,
  by: ({ who }) => `、設定者 ${who}`,
  cuts: ({ what }) => `抑止時間中に実行されます: ${what}。`,
  waiting: ({ n }) => `${number(n)}台は一括コマンドを控える抑止時間中で、終わるまで待ちます。`,
};
export const quietBannerWords = {
  fleet: "フリート全体",
  text: ({ whom, word }) => `${whom}: ${word}。`,
  many: ({ n }) => `${number(n)}拠点がメンテナンス中です。`,
  endOf: ({ whom }) => `${whom} のメンテナンスを終了`,
  all: "抑止時間",
};
