fleet_unheard = フリートからの通信が届いていません
fleet_unheard_recovery = フリートからの通信が再び届くまで、自動復旧は何もしません。
place_fails = { place_where }{ $displays }台のディスプレイが{ $keeps ->
    [yes] 繰り返し異常になっています
   *[no] { place_again }同時に異常になりました
}{ place_times }
place_where = { $kind ->
    [site] 拠点 { $key } の
    [subnet] { $site_is ->
        [some] 拠点 { $site } の
       *[none] {""}
    }サブネット { $key } の
   *[cluster] { $sites ->
        [0] {""}
        [1] {""}
       *[other] { $sites }拠点の
    }
}
place_again = { $times ->
    [0] {""}
    [1] {""}
   *[other] 再び
}
place_times = { $times ->
    [0] {""}
    [1] {""}
   *[other] （24時間で{ $times }回）
}
all_back = { $displays ->
    [1] 元に戻りました。
   *[other] { $displays }台すべてが元に戻りました。
}
display_unwell = { $display } { $what ->
    [stale] が応答しません
    [crashed] がクラッシュしました
    [screen] の{ told_screen }
    [service] のサービスに障害があります（{ $unit }）
   *[unknown] が異常です
}{ $suspended ->
    [yes] 。自動復旧は手を尽くしました
   *[no] {""}
}
told_screen = { $screen ->
    [black] 画面が黒くなっています
    [frozen] 画面がフリーズしています
    [white] 画面が白くなっています
    [hung] 画面のブラウザーが応答していません
    [error_page] 画面にエラーページが表示されています
    [no_page] 画面にページが表示されていません
    [wrong_page] 画面に想定と違うページが表示されています
    [disconnected] 画面が未接続です
    [off] 画面がオフです
   *[other] 画面が異常です
}
screen_fails = { $display } の{ told_screen }{ $screen ->
    [off] 。予定されたものではありません
   *[other] {""}
}
limit_passed = { $limit ->
    [disk] { $display } のディスク使用率が{ $value }%です（しきい値{ $limit_at }%）
    [memory] { $display } のメモリー使用率が{ $value }%です（しきい値{ $limit_at }%）
    [heat] { $display } の温度が{ $value } °Cです（しきい値{ $limit_at } °C）
    [certificate] { $display } が信頼する認証局は{ $is_over ->
        [yes] 期限切れです
       *[no] 残り{ seconds_long }です
    }（しきい値{ $limit_at }日）
    [clock] { $display } の時計が{ seconds_long }{ $is_fast ->
        [yes] 進んでいます
       *[no] 遅れています
    }（しきい値{ $limit_at }秒）
    [voltage] { $display } の電源は起動後に電圧が不足しました
    [read_only] { $display } のディスクに書き込めないため、コマンドを受け付けません
   *[refused] { $display } が指示を受け入れません。内容と理由はそのパネルにあります
}
connection_unsteady = { $display }: 接続が不安定です。この1時間に{ $losses }回切断しました
login_shared = { $display } のログインを2台の機器が使っています
login_shared_cause = どちらにコマンドが届くか分からないため、自動復旧はこのディスプレイに触れません。一方に新しい登録コードを使うと解消します。
breaker_holds = { $site_is ->
    [some] 拠点 { $site } で
   *[none] {""}
}自動復旧を見合わせています
site_still_named = ディスプレイのない拠点 { $site } を{ $things }件がまだ指しています
names_site = { $what ->
    [person] 権限のあるユーザー{ $things }人
    [token] 権限のあるトークン{ $things }件
    [channel] 通知を受けるチャンネル{ $things }件
    [quiet_time] 抑止時間{ $things }件
    [schedule] 予約コマンド{ $things }件
    [status_link] ステータスページ{ $things }件
   *[pictures_off] 画像の表示禁止{ $things }件
}
things_to_move = { $things }。それぞれを別の拠点に移すか、この拠点にディスプレイを戻してください。
not_converted = { $file } を変換できませんでした
certificate_ends = { $door ->
    [displays] ディスプレイ向けの証明書
   *[people] ダッシュボードの証明書
}{ $seconds_is ->
    [some] の期限が{ seconds_long }以内に切れます
   *[none] の期限が切れました
}
certificate_end = 期限は{ told_at }{ $has_ended ->
    [yes] でした。
   *[no] です。
}それ以降は更新された証明書に替わるまで、{ $door ->
    [people] ブラウザーはダッシュボードに警告を表示します。
   *[displays] ディスプレイは接続できません。
}
told_at = { NUMBER($at_year) }年{ $at_month }月{ $at_day }日 { $at_clock }（{ $at_zone }）
recovery_does = { $state ->
    [off] 自動復旧はオフです
    [due] 自動復旧がまもなく対応します
    [in_flight] 自動復旧のコマンドを実行中です
    [verifying] 自動復旧は異常かどうかの裏付けを待っています
    [locked] 自動復旧は前の再起動後の待ち時間が終わるのを待っています
    [suspended] 自動復旧は手を尽くしました。人の対応が必要です
    [unreachable] ディスプレイが接続していないため、自動復旧は何もできません
    [blocked_bridge] 自動復旧はフリートからの通信が届くのを待っています
    [blocked_breaker] 自動復旧を見合わせています。これほど同時なら、原因はこちら側かもしれません
    [held] 指示により、自動復旧はこのディスプレイに触れません
   *[not_recovered] 自動復旧でできることはありません
}
recovery_counted = { $displays }台: { $what }
recovery_about = { $what }。
got_worse = 悪化: { $title }
got_over = 解消: { $title }
trouble_since = { told_at }から{ seconds_long }続いています。
trouble_lasted = { seconds_long }続きました。
trouble_was = 内容: { $cause }
displays_affected = { $displays }台のディスプレイに影響があります: { $names }{ $more ->
    [0] {""}
   *[other] 、ほか{ $more }台
}。
looks_after = { who_did }対応中です。
looked_after = { who_did }対応していました。
many_troubles = { $displays }台のディスプレイ{ $is_over ->
    [yes] { $event ->
        [service_failed] のサービス障害が解消しました
        [screen_bad] の画面が元に戻りました
        [limit_passed] がしきい値の内側に戻りました
        [login_shared] のログインを使う機器が1台に戻りました
       *[other] が元に戻りました
    }
   *[no] { $event ->
        [service_failed] にサービス障害があります
        [screen_bad] の画面が異常です
        [limit_passed] がしきい値を超えています
        [connection_unsteady] の接続が不安定です
        [login_shared] のログインを2台の機器が使っています
       *[other] が異常です
    }
}
and_more = ほか{ $more }件
channel_trial = Signage Fleet のテスト
channel_tried = { who_did }チャンネル「{ $channel }」をテストしました。問題はありません。
daily_report = 毎日の報告: { $unwell ->
    [0] { $displays }台すべて正常
   *[other] { $displays }台中{ $unwell }台が異常
}
unwell_so = { $how ->
    [silent] 応答なし
    [crashed] クラッシュ
   *[failing] サービスまたは画面の異常
}{ $displays }台
site_now = { site_named }: { $unwell }（全{ $displays }台）。
site_named = { $site_is ->
    [some] { $site }
   *[none] 拠点なし
}
more_sites = ほか{ $more }拠点
displays_resting = { $displays }台は予定どおりオフです。
last_day = 過去24時間: インシデント{ $incidents }件。
past_incident = { $cause }{ $is_over ->
    [yes] （解消）
   *[no] {""}
}
more_incidents = ほかインシデント{ $more }件
recovery_did = 自動復旧: { $restarts ->
    [0] { $reboots ->
        [0] 対応なし
       *[other] { rebooted }
    }
   *[other] プレーヤー再起動{ $restarts }回{ $reboots ->
        [0] {""}
       *[other] 、{ rebooted }
    }
}。
rebooted = 機器の再起動{ $reboots }回
known_told = { $known_is ->
    [some] （把握時間 { $known }）
   *[none] {""}
}
known_for = { each_of }{ seconds_long }
each_of = { $several ->
    [yes] 1台平均
   *[no] {""}
}
weekly_report = 毎週の報告: 稼働率 { percent_told }{ known_told }
percent_told = { $percent_is ->
    [some] { $percent }.{ $tenths }%
   *[none] 不明
}
week_of = { $begins }～{ $ends }、営業時間内。
site_week = { site_named }: { percent_told }{ $seconds_is ->
    [some] 、停止は{ each_of }{ seconds_long }
   *[none] {""}
}{ known_told }。
sites_left_out = ほか{ $sites }拠点はページにあります。台数が多いため、1通の通知には収まりません。
