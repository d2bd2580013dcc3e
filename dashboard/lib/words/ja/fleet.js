import { number } from "../../format.js";

/** @type {Record<string, string>} */
const SCREENS = { black: "黒い画面", frozen: "画面のフリーズ", off: "画面オフ", disconnected: "画面なし" };
/** @type {Record<string, string>} */
const FULL = { disk: "ディスク", memory: "メモリー" };

/** @type {typeof import("../fleet.js").tileWords} */
export const tileWords = {
  late: (n) => `遅延${number(n)}台`,
  hint: (word, on) => (on ? "すべてのディスプレイを再び表示" : `「${word}」だけを表示`),
};

/** @type {typeof import("../fleet.js").selectionWords} */
export const selectionWords = {
  one: (name) => `${name} を選択`,
  all: "一覧のディスプレイをすべて選択",
};

/** @type {typeof import("../fleet.js").tableWords} */
export const tableWords = {
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
  changed: (n) => `${number(n)}件変化`,
  resort: "並べ直す",
  nothing: "該当するディスプレイはありません。",
  csv: "一覧のディスプレイをすべて表として保存",
  failed: "サービス障害",
  mended: "障害は復旧済み",
  screen: (how) => SCREENS[how] ?? how,
  passed: ({ limit, value }) => {
    const n = Math.floor(value);
    if (limit === "heat") return `高温${n} °C`;
    if (limit === "clock") return "時計のずれ";
    if (limit === "voltage") return "低電圧";
    if (limit === "read_only") return "ディスク書き込み不可";
    if (limit === "refused") return "指示を拒否";
    if (limit === "certificate") return value > 0 ? `証明書 残り${n}日` : "証明書切れ";
    return `${FULL[limit] ?? limit}使用率${n}%`;
  },
  mute: "ハートビートなし",
  unsteady: "不安定な接続",
  unsteadyHow: (losses) => `過去1時間に${number(losses)}回切断`,
  locked: "クールダウン中",
  open: (word) => `コマンド: ${word}`,
  recent: "最近の確認",
  connect: "ディスプレイを接続",
  nothingYet: "ディスプレイの状態はまだ不明です。サーバーが応答すると表示されます。",
};
