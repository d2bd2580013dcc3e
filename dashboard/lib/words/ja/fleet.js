// Generated from shared/words/ja/page/fleet.ftl
import { number } from "../../format.js";
export const tileWords = {
  late: ({ n }) => `遅延${number(n)}台`,
  hint: ({ on, word }) => on ? "すべてのディスプレイを再び表示" : `「${word}」だけを表示`,
};
export const selectionWords = {
  one: ({ name }) => `${name} を選択`,
  all: "一覧のディスプレイをすべて選択",
};
export const tableWords = {
  fine: ({ n, all_n }) => `${number(all_n)}台中${number(n)}台の画面が正常です`,
  dark: ({ n }) => `${number(n)}か所の拠点が停止中`,
  others: ({ n }) => `${number(n)}台に対応が必要`,
  unknown: ({ n }) => `${number(n)}台は不明`,
  title: "ディスプレイ",
  name: "ディスプレイ",
  site: "拠点",
  status: "状態",
  heartbeat: "ハートビート",
  day: "24時間",
  pictures: "画像",
  version: "バージョン",
  ip: "IP",
  reconnects: "再接続",
  changed: ({ n }) => `${number(n)}件変化`,
  resort: "並べ直す",
  nothing: "該当するディスプレイはありません。",
  csv: "一覧のディスプレイをすべて表として保存",
  failed: "サービス障害",
  mended: "障害は復旧済み",
  screen: ({ how }) => how === "black" ? "黒い画面" : how === "frozen" ? "画面のフリーズ" : how === "off" ? "画面オフ" : how === "disconnected" ? "画面なし" : `${how}`,
  passed: ({ limit, n }) => limit === "heat" ? `高温${n} °C` : limit === "clock" ? "時計のずれ" : limit === "voltage" ? "低電圧" : limit === "read_only" ? "ディスク書き込み不可" : limit === "refused" ? "指示を拒否" : limit === "certificate" ? `証明書 残り${n}日` : limit === "ended" ? "証明書切れ" : `${limit === "disk" ? "ディスク" : limit === "memory" ? "メモリー" : `${limit}`}使用率${n}%`,
  mute: "ハートビートなし",
  unsteady: "不安定な接続",
  unsteadyHow: ({ losses_n }) => `過去1時間に${number(losses_n)}回切断`,
  locked: "クールダウン中",
  open: ({ word }) => `コマンド: ${word}`,
  recent: "最近の確認",
  connect: "ディスプレイを接続",
  nothingYet: "ディスプレイの状態はまだ不明です。サーバーが応答すると表示されます。",
};
