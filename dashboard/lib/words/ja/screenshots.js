import { number } from "../../format.js";

/** @type {typeof import("../screenshots.js").screenshotWords} */
export const screenshotWords = {
  title: "画面",
  wall: "画面の画像",
  take: "スクリーンショットを撮る",
  taking: "ディスプレイの画像を待っています…",
  none: "画像はまだありません。",
  taken: "撮影",
  before: "障害の前:",
  beforeFailure: "障害の前の最後の画像",
  beforeFailures: "障害の前の画面",
  earlier: "以前の画像",
  alt: (name, time) => `${name} の画面、${time}`,
  show: (time) => `${time} の画像を表示`,
  notCapable: "このディスプレイは画面の画像を送りません。",
  off: (site) => `${site} の画面は誰も見られません。管理者が変更できます。`,
  noSite: "拠点のないディスプレイ",
  hide: (site) => `${site} の画面を誰にも見せない`,
  hideSure: "画像を削除し、今後も撮らない",
  allow: (site) => `${site} の画面をオペレーターに見せる`,
  cause: {
    screenshots_off: "この拠点の画面は誰も見られません。",
    screenshot_not_wanted: "画像の到着が遅すぎました。",
  },
  failed: "画像を読み込めませんでした。",
  newPictures: "新しい画像を撮る",
  progress: (came, all, rest) =>
    `${[`${number(all)} 件中 ${number(came)} 件の画像が届きました`, ...rest].join("。")}。`,
  part: {
    unable: (n) => `${number(n)} 台は画像を送れません`,
    hidden: (n) => `${number(n)} 台の画面は誰も見られません`,
    away: (n) => `${number(n)} 台は接続されていません`,
    silent: (n) => `${number(n)} 台は応答しませんでした`,
    failed: (n) => `${number(n)} 件は失敗しました`,
    waiting: (n) => `${number(n)} 件を待っています`,
  },
  step: {
    unable: "画像を送れません",
    hidden: "誰も見られません",
    away: "未接続",
    silent: "応答なし",
    failed: "失敗",
    waiting: "新しい画像を待っています…",
  },
};
