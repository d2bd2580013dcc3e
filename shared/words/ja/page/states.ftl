statusWords-running = 稼働中
statusWords-late = 遅延
statusWords-stale = 応答なし
statusWords-crashed = クラッシュ
statusWords-starting = 起動中
statusWords-stopped = 停止
statusWords-unknown = 不明
statusWords-screen_failed = 画面異常
statusWords-limit_passed = しきい値超過

statusMeanings-running = プレーヤーが再生中です。
statusMeanings-late = ハートビートが遅れています。1回の遅れは心配いりません。
statusMeanings-stale = 応答なし: ハートビートが続けて届いていません。
statusMeanings-crashed = プレーヤーが落ち、監視役が復帰させていません。
statusMeanings-starting = プレーヤーが読み込み中です。
statusMeanings-stopped = プレーヤーは意図的に止められました。
statusMeanings-unknown = まだ何も届いていないか、ハートビートがないか、ディスプレイが伝えられません。
statusMeanings-screen_failed = 黒い、白い、フリーズした、正しいページでない、未接続、または予定外に消えています。
statusMeanings-limit_passed = 機器がしきい値を超えています。

screenWords-ok = 正常
screenWords-black = 黒い画面
screenWords-frozen = 画面のフリーズ
screenWords-white = 白い画面
screenWords-hung = ブラウザー応答なし
screenWords-error_page = エラーページ
screenWords-no_page = ページなし
screenWords-wrong_page = 想定と違うページ
screenWords-off = 画面オフ
screenWords-disconnected = 画面未接続
screenWords-unknown = 未報告

offByWords-command = オフ（オペレーターによる）
offByWords-hours = オフ（営業時間による）

actionWords-restart_app = プレーヤー再起動
actionWords-reboot_host = 再起動
actionWords-shutdown_host = シャットダウン
actionWords-screenshot = スクリーンショット
actionWords-screen_on = 画面オン
actionWords-screen_off = 画面オフ

stepWords-queued = 待機
stepWords-sent = 送信済み
stepWords-received = 受領
stepWords-running = 実行中
stepWords-succeeded = 成功
stepWords-failed = 失敗
stepWords-rejected = ディスプレイが拒否
stepWords-expired = 期限切れ
stepWords-timed_out = 時間切れ
stepWords-cancelled = 取り消し
