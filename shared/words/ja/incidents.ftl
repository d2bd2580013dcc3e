failed_together = { failed_where }{ failed_how }{ $place }。{ failed_why }。
failed_where = { $kind ->
    [site] 拠点 { $key } の
    [subnet] { $site_is ->
        [some] 拠点 { $site } の
       *[none] {""}
    }ネットワーク { $key } の
   *[cluster] { $sites ->
        [0] {""}
        [1] {""}
       *[other] { $sites }拠点の
    }
}{ $size_is ->
    [some] { $size }台中
   *[none] {""}
}{ $members }台
failed_within = { $seconds_n ->
    [0] 同時に
   *[other] { seconds_long }以内に
}
failed_how = { $ways_n ->
    [1] { $symptom ->
        [silent] が{ failed_within }応答しなくなりました
        [crashed] が{ failed_within }クラッシュしました
        [service_failed] が{ failed_within }{ $unit_is ->
            [some] {" "}{ $unit } の
           *[none] サービスの
        }障害を報告しました
        [disconnected] が{ failed_within }ブローカーから切断され、戻りました
       *[screen_failed] { $screen ->
            [black] で{ failed_within }画面が黒くなりました
            [frozen] で{ failed_within }画面がフリーズしました
            [white] で{ failed_within }画面が白くなりました
            [hung] で{ failed_within }ブラウザーが応答しなくなりました
            [error_page] で{ failed_within }エラーページが表示されました
            [no_page] で{ failed_within }ページが表示されなくなりました
            [wrong_page] で{ failed_within }想定と違うページが表示されました
            [disconnected] で{ failed_within }画面が未接続になりました
            [off] で{ failed_within }画面が消されました
           *[other] が{ failed_within }画面の異常を報告しました
        }
    }
   *[other] が{ failed_within }異常になりました（{ $ways }）
}
failed_why = { $likely ->
    [time] 共通点は時刻だけです
   *[other] 原因は{ $likely ->
        [screens] 画面の電源か、誰かのスイッチ操作
        [content] 表示する内容か、更新
        [shared] 共通の通信事業者、ブローカーまでの経路、またはブローカー自体
       *[other] { $where ->
            [site] 拠点の
           *[subnet] ネットワークのこの範囲の
        }{ $likely ->
            [network] 回線または電源
           *[short_break] 回線の一時的な切断
        }
    }と思われます
}

failed_so = { $symptom ->
    [silent] 応答なし
    [crashed] クラッシュ
    [service_failed] サービス障害
    [disconnected] 一時的な切断
   *[screen_failed] 画面異常
} { $displays }台
most_at = 。{ $among ->
    [yes] うち
   *[no] いずれも
}{ $kind ->
    [site] 拠点
   *[subnet] ネットワーク
} { $key } の{ $whole ->
    [yes] 全{ $size }台
   *[no] { $size }台中{ $members }台
}です

fleet_not_heard = フリートからの通信が届いていません。ブリッジが{ at_long }から応答しません。ディスプレイは正常に動いている可能性があります。
other_sites_too = 同じときに、ほかの拠点のディスプレイも異常になりました。

part_of_another = ここからはインシデント{ NUMBER($id) }の一部です。
has_part = インシデント{ NUMBER($id) }（{ $kind ->
    [site] 拠点
    [subnet] ネットワーク
    [cluster] 複数の拠点
   *[listening] こちら側
}{ $key_is ->
    [some] {" "}{ $key }
   *[empty] {""}
}）は、このインシデントの一部と分かりました。
failed_again = その後すぐに、再び異常になりました。
fleet_heard_again = フリートからの通信が再び届きました。
all_well_again = すべてのディスプレイが正常に戻りました。
displays_failed = { $displays }台が異常
displays_well = { $displays }台が正常に復帰
is_on_it = { who_did }対応を始めました。
took_over = { who_did } { $was } から対応を引き継ぎました。
gave_back = { who_did }担当を外れました。
command_asked = { who_did }{ $displays }台に{ command_name }を要求{ $reason_is ->
    [some] { command_reason }
   *[none] {""}
}
command_name = { $action ->
    [restart_app] プレーヤー再起動
    [reboot_host] 再起動
    [shutdown_host] シャットダウン
    [screenshot] スクリーンショット
    [screen_on] 画面オン
    [screen_off] 画面オフ
   *[other] { $action }
}
recovery_waits = { $displays }台について、自動復旧は何もしません。
recovery_acts = 自動復旧が{ $displays }台に{ command_name }を要求しました。
