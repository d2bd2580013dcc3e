// Generated from shared/words/ja/page/states.ftl
export const statusWords = {
  running: "稼働中",
  late: "遅延",
  stale: "応答なし",
  crashed: "クラッシュ",
  starting: "起動中",
  stopped: "停止",
  unknown: "不明",
  screen_failed: "画面異常",
  limit_passed: "しきい値超過",
};
export const statusMeanings = {
  running: "プレーヤーが再生中です。",
  late: "ハートビートが遅れています。1回の遅れは心配いりません。",
  stale: "応答なし: ハートビートが続けて届いていません。",
  crashed: "プレーヤーが落ち、監視役が復帰させていません。",
  starting: "プレーヤーが読み込み中です。",
  stopped: "プレーヤーは意図的に止められました。",
  unknown: "まだ何も届いていないか、ハートビートがないか、ディスプレイが伝えられません。",
  screen_failed: "黒い、フリーズした、未接続、または予定外に消えています。",
  limit_passed: "機器がしきい値を超えています。",
};
export const screenWords = {
  ok: "正常",
  black: "黒い画面",
  frozen: "画面のフリーズ",
  off: "画面オフ",
  disconnected: "画面未接続",
  unknown: "未報告",
};
export const offByWords = {
  command: "オフ（オペレーターによる）",
  hours: "オフ（営業時間による）",
};
export const actionWords = {
  restart_app: "プレーヤー再起動",
  reboot_host: "再起動",
  shutdown_host: "シャットダウン",
  screenshot: "スクリーンショット",
  screen_on: "画面オン",
  screen_off: "画面オフ",
};
export const stepWords = {
  queued: "待機",
  sent: "送信済み",
  received: "受領",
  running: "実行中",
  succeeded: "成功",
  failed: "失敗",
  rejected: "ディスプレイが拒否",
  expired: "期限切れ",
  timed_out: "時間切れ",
  cancelled: "取り消し",
};
