// Generated from shared/words/ja/page/common.ftl
import { number } from "../../format.js";
export const commonWords = {
  loading: "読み込み中…",
  working: "処理中…",
  retry: "再試行",
  retrying: "自動的に再試行しています。",
  reload: "再読み込み",
  more: "さらに読み込む",
  andMore: ({ n }) => `ほか${number(n)}件`,
  csv: "CSV で保存",
  close: "閉じる",
  cancel: "キャンセル",
  dismiss: "非表示",
  copy: "コピー",
  copied: "コピーしました",
  none: "なし",
  never: "なし",
  notReported: "未報告",
  by: ({ who }) => `作成者: ${who}`,
  notLoaded: "ページのこの部分を読み込めませんでした。",
  quietTimes: "抑止時間",
  outOfDate: "更新されていません。表示は古い可能性があります",
};
