command_cancelled = { who_did }取り消し
command_ended = { who_did }終了: { $reason }
command_cause = { command_cause_long }。
command_cause_long = { $cause ->
    [no_ack] ディスプレイが時間内に受領を返しませんでした
    [no_subscriber] ディスプレイはブローカーに接続していませんでした
    [never_published] 時間内にブローカーに届かず、送信されませんでした
    [no_result] ディスプレイは受け取りましたが、効果を時間内に確認できませんでした
    [publish_denied] ブローカーが許可しませんでした。サーバーの運用者に連絡してください
    [screen_did_not_switch] 画面は元のままです
    [screen_does_not_say] 画面は切り替わったかどうかを答えません
    [reboot_did_not_happen] ディスプレイは再起動せずに動き続けました
    [precondition_failed] コマンドの作成後にすでに再起動していたため、何もしませんでした
    [no_journal] ディスプレイのディスクに書き込めないため、何も始めませんでした。カードを交換してください
    [unknown_action] ディスプレイはこのコマンドを知りません。クライアントが古すぎます
    [not_capable] このディスプレイにはできません
    [unsupported_version] ディスプレイはコマンドを理解できません。クライアントが古すぎます
    [busy] ディスプレイは別のコマンドの実行中でした
    [expired] 間に合わなかったため、ディスプレイは何もしませんでした
    [interrupted] 終わる前にディスプレイが停止しました
    [client_deleted] その間にディスプレイが削除されました
    [login_revoked] その間にディスプレイのログインが失効しました
    [rights_lost] 要求した人には、このディスプレイに送る権限がもうありません
    [no_picture] ディスプレイは画像を送ったと伝えましたが、届きませんでした
    [already_rebooted] ディスプレイはすでに自分で再起動していました
   *[other] { $cause }
}
