// Generated from shared/words/ja/page/limits.ftl
import { number } from "../../format.js";
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
export const limitValues = {
  share: ({ percent }) => `${percent}%`,
  heat: ({ degrees }) => `${degrees} °C`,
  certificate: ({ over, time }) => over ? "期限切れ" : `残り${time}`,
  clock: ({ how, time }) => how === "right" ? "正確" : how === "fast" ? `${time}進み` : `${time}遅れ`,
  voltage: ({ low }) => low ? "起動後に電圧不足あり" : "起動後の電圧は十分",
  read_only: ({ is }) => is ? "ディスクに書き込めません" : "ディスクに書き込めます",
  refused: ({ some }) => some ? "受け入れない指示あり" : "すべて受け入れ済み",
};
export const limitTexts = {
  share: ({ percent }) => `しきい値${percent}%`,
  heat: ({ degrees }) => `しきい値${degrees} °C`,
  certificate: ({ n }) => `しきい値 期限の${number(n)}日前`,
  clock: ({ time }) => `しきい値${time}`,
};
export const limitWords = {
  passed: "しきい値超過、発生",
  stays: "15分間よい値が続くと解消します。",
  refused: "ディスプレイが拒否:",
  orders: {
    commands: "コマンド",
    hours: "営業時間",
    log_level: "ログレベル",
    look: "画面の見え方",
  },
  reasons: {
    unknown_zone: "このタイムゾーンを知りません。古い名前のタイムゾーンを選ぶか、ディスプレイを更新してください。",
    unknown_level: "このレベルを知りません。",
    unsupported_version: "クライアントが古く、この形式に対応していません。",
    not_understood: "内容を理解できません。",
  },
};
