// Generated from shared/words/ja/page/recovery.ftl
import { number } from "../../format.js";
export const recoveryWords = {
  state: {
    off: "自動復旧はオフです",
    due: "まもなく対応します",
    in_flight: "コマンドを実行中です",
    verifying: "裏付けを待っています",
    locked: "前のコマンドの後のクールダウン中です",
    suspended: "人の対応を待っています",
    unreachable: "ディスプレイは接続していません",
    blocked_bridge: "ブリッジが応答しません",
    blocked_breaker: "同時に異常なものが多すぎます",
    held: "そのままにしています",
    not_recovered: "自動復旧の対象外です",
  },
  mute: "何も送りません。ディスプレイはまだメッセージを送っています",
  well: "このディスプレイは正常です。復旧の必要はありません。",
  never: "まだハートビートがありません。復旧の対象がありません。",
  tried: ({ restarts_n, reboots_n }) => `これまでの試行: プレーヤー再起動${number(restarts_n)}回、再起動${number(reboots_n)}回。`,
  resume: "自動復旧を再開",
};
