import { number } from "../../format.js";
import { duration } from "../../measures.js";

const DAY = 86_400;

/** @param {number} days */
const certificate = (days) => (days <= 0 ? "期限切れ" : `残り${duration(days * DAY)}`);

/** @param {number} seconds */
const clock = (seconds) =>
  Math.abs(seconds) < 1 ? "正確" : `${duration(Math.abs(seconds))}${seconds > 0 ? "進み" : "遅れ"}`;

/** @type {typeof import("../limits.js").limitNames} */
export const limitNames = {
  disk: "ディスク",
  memory: "メモリー",
  heat: "温度",
  certificate: "証明書",
  clock: "時計",
  voltage: "電源",
  read_only: "書き込み",
  refused: "指示",
};

/** @type {typeof import("../limits.js").limitValues} */
export const limitValues = {
  disk: (percent) => `${Math.floor(percent)}%`,
  memory: (percent) => `${Math.floor(percent)}%`,
  heat: (degrees) => `${Math.floor(degrees)} °C`,
  certificate,
  clock,
  voltage: (low) => (low ? "起動後に電圧不足あり" : "起動後の電圧は十分"),
  read_only: (is) => (is ? "ディスクに書き込めません" : "ディスクに書き込めます"),
  refused: (count) => (count ? "受け入れない指示あり" : "すべて受け入れ済み"),
};

/** @type {typeof import("../limits.js").limitTexts} */
export const limitTexts = {
  disk: (at) => `しきい値${at}%`,
  memory: (at) => `しきい値${at}%`,
  heat: (at) => `しきい値${at} °C`,
  certificate: (at) => `しきい値 期限の${number(at)}日前`,
  clock: (at) => `しきい値${duration(at)}`,
  voltage: () => "",
  read_only: () => "",
  refused: () => "",
};

/** @type {typeof import("../limits.js").limitWords} */
export const limitWords = {
  passed: "しきい値超過、発生",
  stays: "15分間よい値が続くと解消します。",
  refused: "ディスプレイが拒否:",
  orders: {
    commands: "コマンド",
    hours: "営業時間",
    log_level: "ログレベル",
  },
  reasons: {
    unknown_zone: "このタイムゾーンを知りません。古い名前のタイムゾーンを選ぶか、ディスプレイを更新してください。",
    unknown_level: "このレベルを知りません。",
    unsupported_version: "クライアントが古く、この形式に対応していません。",
    not_understood: "内容を理解できません。",
  },
};
