import { number } from "../../format.js";

/** @type {Record<string, string>} */
const NOT_SENT = {
  command_in_flight: "すでにコマンドあり",
  locked_out: "クールダウン中",
  not_capable: "非対応",
  unknown_client: "不明",
  aborted: "中止",
};

/** @type {typeof import("../batches.js").batchWords} */
export const batchWords = {
  region: "選択したディスプレイ",
  listed: (n) => `選択なし: 一覧の${number(n)}台が対象`,
  selected: (n) => `${number(n)}台を選択中`,
  clear: "選択を解除",
  quiet: "抑止時間…",
  later: "あとで…",
  silent: "ブリッジが応答しません。ディスプレイの状態は不明です",
  title: (action, n) => `${action}: ${number(n)}台`,
  would: {
    accepted: (n) => `${number(n)}台に送信`,
    waiting: (n) => `${number(n)}台は後の段階で送信`,
    command_in_flight: (n) => `${number(n)}台はすでにコマンドあり`,
    locked_out: (n, until) => `${number(n)}台は${until}までクールダウン中`,
    not_capable: (n) => `${number(n)}台は非対応`,
    unknown_client: (n) => `${number(n)}台はもう存在しません`,
  },
  reason: "理由（任意）",
  waves: "段階的に: 1台、次に10%、次に残り。10%を超えて失敗したら止めます",
  type: (n) => `続けるには${n}と入力`,
  go: (action, n) => `${action}: ${number(n)}台`,
  page: "すべての一括コマンド",
  pageTitle: "一括コマンド",
  lead: "多くのディスプレイに一度に送ったコマンドと、それぞれの結果です。",
  one: "一括コマンドの詳細",
  none: "一括コマンドはまだありません。フリートの表でディスプレイを選択してください。",
  failed: "一括コマンドを読み込めませんでした。",
  failedOne: "この一括コマンドを読み込めませんでした。",
  progress: ({ good, going, bad, waiting, unsent, all }) => {
    const left = Object.entries(unsent);
    const sum = left.reduce((n, [, amount]) => n + amount, 0);
    const why = left.map(([outcome, n]) => [NOT_SENT[outcome] ?? outcome, left.length > 1 && number(n)]);
    const parts = [
      `${number(all)}台中${number(good)}台が成功`,
      going && `${number(going)}台が実行中`,
      waiting && `${number(waiting)}台が後の段階を待機中`,
      bad && `${number(bad)}台が失敗`,
      sum && `${number(sum)}台は未送信（${why.map((one) => one.filter(Boolean).join(" ")).join("、")}）`,
    ];
    return `${parts.filter(Boolean).join("、")}。`;
  },
  wave: (n) => `第${n}段階`,
  waveOf: (n, all) => `第${n}段階 / 全${all}段階`,
  pause: "一時停止",
  resume: "再開",
  abort: "残りを中止",
  state: {
    running: "実行中",
    paused: "一時停止中",
    finished: "終了",
    aborted: "中止",
    succeeded: "成功",
    partial: "一部成功",
    failed: "失敗",
  },
  outcome: {
    accepted: "受付済み",
    waiting: "段階を待機中",
    command_in_flight: "すでにコマンドあり",
    locked_out: "クールダウン中",
    not_capable: "非対応",
    unknown_client: "不明",
    aborted: "未送信",
  },
};
