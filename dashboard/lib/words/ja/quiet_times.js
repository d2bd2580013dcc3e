import { number } from "../../format.js";

/** @param {number} n */
const displays = (n) => `${number(n)}台`;

/** @type {typeof import("../quiet_times.js").quietTimesWords} */
export const quietTimesWords = {
  title: "抑止時間",
  lead: "ディスプレイをしばらくそのままにします: 自動再起動なし、通知なし、一括コマンドは待機、または画面が消えていてもよい。人が送るコマンドは常に届きます。",
  which: "表示する抑止時間",
  current: "現在",
  past: "過去",
  preset: "種類",
  all: "すべての種類",
  add: "抑止時間を追加",
  none: "抑止中のものも予定もありません。",
  nonePast: "終わった抑止時間はまだありません。",
  noneOf: "該当する抑止時間はありません。",
  failed: "抑止時間を読み込めませんでした。",
  ofDisplay: (name) => `${name} のものだけ`,
  ofAll: "すべて表示",
  state: { on: "実施中", planned: "予定", over: "終了", ended: "中止" },
  presets: {
    hold: "保留",
    snooze: "通知停止",
    maintenance: "メンテナンス",
    opening_hours: "営業時間",
    leave_out: "除外",
    custom: "その他",
  },
  meaning: {
    hold: "誰かが作業している間、自動復旧は何も送りません。",
    snooze: "通知は送られません。終わったときにまだ異常なら、そのとき送られます。",
    maintenance: "自動復旧は何も送らず、通知も送られず、一括コマンドは待ちます。",
    opening_hours:
      "これ以外の時間は閉店です。画面は消えていてよく、自動復旧は待ち、通知は送られません。稼働率は営業時間だけを数えます。",
    leave_out: "誰かが終えるまで、自動復旧は触れません。",
    custom: "抑止する内容を選びます。",
  },
  what: {
    recovery: "自動再起動なし",
    notices: "通知なし",
    screen: "画面は消えていてよい",
    commands: "一括コマンドは待機",
  },
  fleet: "フリート全体",
  tag: (tag) => `タグ ${tag}`,
  displays,
  until: "終了",
  untilEnded: "誰かが終えるまで",
  from: "開始",
  endedBy: (who) => `${who} が終了`,
  open: (week) => `営業時間: ${week}`,
  weekly: (week) => `毎週${week}`,
  edit: "変更…",
  end: "終了",
  endOf: (preset, whom) => `${whom} の${preset}を終了`,
  editOf: (preset, whom) => `${whom} の${preset}を変更`,
};

/** @type {typeof import("../quiet_times.js").quietEndWords} */
export const quietEndWords = {
  title: "この抑止時間を終えますか？",
  text: (n) => `対象の${number(n)}台で直ちに終わります。`,
  none: "直ちに終わります。いま対象のディスプレイはありません。",
  go: "終える",
};

/** @type {typeof import("../quiet_times.js").quietFormWords} */
export const quietFormWords = {
  addTitle: "抑止時間を追加",
  editTitle: (preset) => `変更: ${preset}`,
  kind: "種類",
  whom: "対象",
  scope: { fleet: "フリート全体", site: "拠点", tag: "タグ", clients: "個別のディスプレイ" },
  site: "拠点",
  tag: "タグ",
  find: "ディスプレイを検索",
  chosen: (n) => `${number(n)}台を選択`,
  moreFound: (n) => `ほか${number(n)}台: 名前をさらに入力してください`,
  quiet: "抑止する内容",
  how: "期間",
  hours: (n) => (n === 168 ? "1週間" : n > 24 ? `${n / 24}日間` : `${n}時間`),
  openEnd: "誰かが終えるまで",
  at: "時刻を指定…",
  from: "開始（空欄は今）",
  until: "終了",
  untilOptional: "終了（空欄は無期限）",
  untilHere: (zone) => `終了（あなたの時刻、${zone}）`,
  yourTime: (zone) => `あなたの時刻: ${zone}。`,
  weekly: "週の決まった時間だけ",
  openingHours: "営業時間",
  weeklyHours: "抑止する時間",
  zone: "この時間のタイムゾーン",
  zoneOwn: (zone) => `${zone}（あなたの）`,
  closedAllDay: "休業",
  notThatDay: "この日はなし",
  begins: (day, n) => `${day}、${n}番目、開始`,
  ends: (day, n) => `${day}、${n}番目、終了`,
  addTimes: "追加",
  addTimesTo: (day) => `${day}の時間を追加`,
  removeTimes: (day, n) => `${day}の${n}番目の時間を削除`,
  nights: (n) => `${n}晩後`,
  copy: "月曜日の時間を火曜日～金曜日にコピー",
  reason: "理由",
  reasonOptional: "理由（任意）",
  go: "抑止する",
  save: "保存",
  editThat: "それを変更",
};

/** @type {typeof import("../quiet_times.js").quietPreviewWords} */
export const quietPreviewWords = {
  space: "", // between two sentences
  whole: (n) => `フリート全体（${displays(n)}）`,
  place: (name, n) => `${name}（${displays(n)}）`,
  tag: (tag, n) => `タグ ${tag}（${displays(n)}）`,
  nobody: "対象を選んでください。",
  nothing: "抑止する内容を選んでください。",
  noHours: "少なくとも1日に時間を入れてください。",
  noEnd: "いつまでか入れてください。",
  sentence: (what, whom, when) => `${whom}: ${what}、${when}。`,
  now: "今から",
  from: (time) => `${time}から`,
  until: (time, zone) => `${time}まで（${zone}）`,
  untilEnded: "誰かが終えるまで",
  outside: (week, zone) => `${week}以外（${zone}）`,
  within: (week, zone) => `毎週${week}（${zone}）`,
  openNow: (at) => (at ? `いま営業中、${at}に閉店。` : "常に営業。"),
  closedNow: (at) => (at ? `いま閉店中、${at}に開店。` : "常に閉店。"),
  onNow: (at) => (at ? `いま実施中、${at}まで。` : "常に実施。"),
  onNext: (at) => (at ? `次回: ${at}。` : ""),
};

/** @type {typeof import("../quiet_times.js").clientQuietWords} */
export const clientQuietWords = {
  title: "抑止時間",
  nothing: "いまこのディスプレイに抑止はありません。",
  failed: "このディスプレイの抑止時間を読み込めませんでした。",
  hold: "保留…",
  snooze: "通知停止…",
  leaveOut: "除外…",
  maintenance: "メンテナンス…",
  all: "このディスプレイの抑止時間をすべて表示",
};

/** @type {typeof import("../quiet_times.js").quietRefusalWords} */
export const quietRefusalWords = {
  nouns: {
    ends_at: "終了",
    starts_at: "開始",
    time_zone: "タイムゾーン",
    opening_hours: "営業時間",
    leave_out: "「除外」",
  },
};
