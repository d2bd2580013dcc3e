recovery_screen = { $screen ->
    [black] 画面が黒くなっています
    [frozen] 画面がフリーズしています
    [white] 画面が白くなっています
    [hung] 画面のブラウザーが応答していません
    [error_page] 画面にエラーページが表示されています
    [no_page] 画面にページが表示されていません
    [wrong_page] 画面に想定と違うページが表示されています
    [disconnected] 画面が接続されていません
    [off] 画面が消えています
   *[other] 画面が異常です
}
recovery_bad_screen = { recovery_screen }が、ディスプレイからの通信は届いています
recovery_evidence = { $basis ->
    [crashed] プレーヤーがクラッシュしたことを、最新のハートビートが伝えています
    [service_failed] サービスに障害がありますが、ディスプレイからの通信は届いています
    [stale] ディスプレイの応答がありませんが、ブローカーは切断を伝えていません
   *[screen_failed] { recovery_bad_screen }
}

recovery_tries = { $restarts ->
    [0] 再起動{ $reboots }回
   *[other] プレーヤー再起動{ $restarts }回{ $reboots ->
        [0] {""}
       *[other] 、再起動{ $reboots }回
    }
}
recovery_all_tries = { $restarts ->
    [0] { $reboots ->
        [0] これまでの対応
       *[other] { recovery_tries }
    }
   *[other] { recovery_tries }
}
recovery_refused = ディスプレイが{ recovery_tries }を拒否しました{ $reason_is ->
    [none] {""}
    [empty] （{ $elsewhere ->
        [yes] { recovery_elsewhere }
       *[no] 理由なし
    }）
   *[some] （{ $reason }{ $elsewhere ->
        [yes] 、{ recovery_elsewhere }
       *[no] {""}
    }）
}
recovery_elsewhere = 最後に保存されたハートビートとは別の起動
recovery_needs_you = 人が対応して自動復旧を再開するまで、何も送りません。

recovery_off = 設定 CRASH_RECOVERY_ENABLED により、自動復旧はオフです。
bridge_silent = ブリッジが応答しないため、表示は古い可能性があります。応答が戻るまで、何も送りません。
command_open = コマンドを実行中です（{ command_name }）。次の対応は結果で決まります。
command_of_another = { who_did }{ seconds_long }前に要求したコマンド（{ command_name }）の結果がまだありません。結果が出るか、時間が過ぎるか、管理者が終えるまで、自動復旧は待ちます。
nothing_helped = { recovery_all_tries }は効果がありませんでした{ $seconds_is ->
    [none] {""}
   *[some] （最初の試行は{ seconds_long }前）
}。{ recovery_needs_you }
all_refused = { recovery_refused }。{ recovery_needs_you }

two_devices = 2台の機器が同じログインを使っています（最後に見えたのは{ seconds_long }前）。どちらにもコマンドが届きえます。一方に新しいコードを渡してください。
shut_down_on_purpose = ディスプレイは意図的にシャットダウンされました。次のハートビートまで、そのままにします。
stopped_on_purpose = プレーヤーは意図的に止められました。そのままにします。

no_heartbeat_yet = ディスプレイのハートビートがまだなく、判断できません。
reports_come_again = ブリッジの応答が戻ってから、メッセージは届いています。自動復旧はハートビートを待っています。
not_heard_since = ブリッジの応答が戻ってから、ディスプレイからの通信が届いていません。無応答の時間はそこから数えます。
failure_not_repeated = サービス { $unit } に障害がありましたが、その後ディスプレイは報告していません。問題がなければ、障害を確認してください。
screen_disconnected = 画面が接続されていません。コマンドでは直りません。ケーブルと電源を現地で確認してください。
screen_off = 画面が消えていますが、予定にありません。コマンドは送りません。画面を点けるか、消す時間を予定に入れてください。
screen_wrong_page = 画面に想定と違うページが表示されています。コマンドは送りません。プレーヤーに渡した表示内容を確認するか、想定を変えてください。
screen_unproven = { recovery_screen }。自動復旧は、新しい報告が2回届くまで何も送りません。
heard_again = ディスプレイからの通信が再び届きました。このまま正常かどうかは、まだ分かりません。

silent_and_gone = ディスプレイは応答がなく、接続もしていません。何も送れません。
not_connected = { $basis ->
    [crashed] プレーヤーがクラッシュしました
    [service_failed] サービスに障害があります
   *[other] { recovery_screen }
}。ただしディスプレイが接続していないため、自動復旧は次のハートビートの後にやり直します。
silent_too_long = ディスプレイは1日を超えて応答がありません。再起動では直らないため、自動復旧は何も送りません。人が見る必要があります。
command_done = 自動復旧のコマンド（{ command_name }）が実行されました。効果は、クールダウンの終わりに判断します。
asked_again_later = { recovery_refused }。クールダウンの終わりに、もう一度要求します。
sent_lately = 最近、再起動を送信しました。次を送る前に、ディスプレイが戻るのを待っています。
cannot_do = { recovery_evidence }。ただし、このディスプレイは{ command_name }に対応していません。

watchdog_first = プレーヤーがクラッシュしたばかりです。まずディスプレイ自身の監視役に任せます。
other_screens_first = { recovery_bad_screen }。ほかにも多くの画面が異常になるか、自動復旧は様子を見ています。
others_first = ディスプレイの応答がなくなったばかりです。ほかにも多くが応答しなくなるか、自動復旧は様子を見ています。
shop_just_opened = 営業時間が始まったばかりで、その前から応答がありません。自動復旧は起動する時間を与えています。
first_heartbeat_awaited = ディスプレイがオンラインになったばかりです。自動復旧は最初のハートビートを待っています。
many_late = { $seen }台中{ $late }台が遅延しているか応答していません。ほかも応答しなくなるか、自動復旧は様子を見ています。
command_due = { recovery_evidence }。空きのある次の実行で、{ command_name }を送ります。
no_help_so_far = { recovery_all_tries }は、まだ効果がありません。
refused_before = { recovery_refused }。
command_sent = { recovery_evidence }。{ command_name }を送りました。{ $attempts }回中{ $attempt }回目です。
no_help = { recovery_all_tries }は効果がありませんでした。
part_of_incident = インシデントの一部です。
