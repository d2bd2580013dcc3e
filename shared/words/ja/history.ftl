client_registered = { $how ->
    [enrolment] 登録コードで作成されました。
    [first_message] 最初のメッセージで登録されました。
   *[other] 登録されました。
}
state_changed = { status_before } → { status_after }。
status_before = { $before ->
    [running] 稼働中
    [late] 遅延
    [stale] 応答なし
    [crashed] クラッシュ
    [starting] 起動中
    [stopped] 停止
    [unknown] 不明
   *[other] { $before }
}
status_after = { $after ->
    [running] 稼働中
    [late] 遅延
    [stale] 応答なし
    [crashed] クラッシュ
    [starting] 起動中
    [stopped] 停止
    [unknown] 不明
   *[other] { $after }
}

service_failed = サービス { $unit } に障害
failure_acknowledged = { who_did } { $unit } の障害を確認
screen_changed = { $fails ->
    [yes] { screen_began_to_fail }
   *[no] { screen_fails_no_more }
}
screen_began_to_fail = { $screen ->
    [off] 画面が消えていますが、予定にありません
   *[other] { recovery_screen }
}
screen_fails_no_more = { $screen ->
    [ok] 画面の表示が戻りました
    [off] 画面が消えていますが、いまは障害ではありません
    [unknown] 画面の様子が分からなくなりました
   *[other] 画面の異常がなくなりました
}
line_logged = { log_level }: { $message }
log_level = { $level ->
    [debug] デバッグ
    [info] 情報
    [warning] 警告
    [error] エラー
    [critical] 重大
   *[other] { $level }
}

command_requested = { who_did }{ command_name }を要求{ $reason_is ->
    [some] { command_reason }
   *[none] {""}
}
command_reason = { $by_kind ->
    [recovery] 。{ $reason }
   *[person] （{ $reason }）
}
command_received = { command_name }: ディスプレイが受領
command_over_before = { command_name }: 終了後にディスプレイが応答（{ command_step }）
command_step = { $state ->
    [queued] 待機
    [sent] 送信済み
    [received] 受領
    [running] 実行中
    [succeeded] 成功
    [failed] 失敗
    [rejected] ディスプレイが拒否
    [expired] 期限切れ
    [timed_out] 時間切れ
    [cancelled] 取り消し
   *[other] { $state }
}
command_over = { command_name }: { command_step }{ $cause_is ->
    [some] （{ command_cause_long }）
   *[none] { command_over_why }
}
command_over_why = { $why_is ->
    [some] （{ $why }）
   *[none] { command_confirmed }
}
command_confirmed = { $confirmed_by ->
    [ack] （ディスプレイが確認しました）
    [evidence] （その後のディスプレイの動作で証明されました）
    [both] （ディスプレイが確認し、その後の動作で証明されました）
   *[other] {""}
}

recovery_did_nothing = 自動復旧は何もしません。
recovery_asked = 自動復旧が{ command_name }を要求しました。

person_did = { done_to_it }{ $named ->
    [yes] （{ who }）
   *[no] {""}
}
done_to_it = { $did ->
    [client_write] 情報を変更
    [client_delete] 削除
    [client_log_level] ログレベルを一時的に変更
    [enrolment_create] 登録コードを作成
    [enrolment_use] 接続: ディスプレイがログインを取得
    [enrolment_rotate] パスワードをディスプレイ自身のものに置き換え
    [enrolment_delete] ログインを失効
    [screenshot_send] 画面の画像を保存
    [screenshot_look] 画面の画像を閲覧
    [recovery_hold] 自動復旧を保留
    [recovery_resume] 自動復旧を再開
    [recovery_exclude] 自動復旧から除外
    [recovery_include] 自動復旧の対象に復帰
    [quiet_time_create] 抑止時間を作成
    [quiet_time_write] 抑止時間を変更
    [quiet_time_end] 抑止時間を終了
   *[other] { $action }
}
