quiet_time = { $how }、設定者 { who }{ $reason_is ->
    [some] （{ $reason }）
   *[empty] {""}
}: { $quiet }。
quiet_how = { $preset ->
    [hold] 保留中
    [snooze] 通知停止中
    [maintenance] メンテナンス中
    [opening_hours] 営業時間外
    [leave_out] 除外中
   *[custom] 抑止中
}
quiet_what = { $quiet ->
    [recovery] 自動再起動なし
    [notices] 通知なし
    [screen] 画面は消えていてよい
   *[commands] 一括コマンドは待機
}
nothing_quiet = いまこのディスプレイに抑止はありません。

goes_although = 抑止時間中に実行されます: { $quiet }。
quiet_by = { $how }（設定者 { who }）
quiet_and = { $before }、{ $last }

nobody_at_site = 拠点 { $site } にはまだディスプレイがありません。
nobody_with_tag = タグ「{ $tag }」のディスプレイはまだありません。
nobody_covered = いま対象のディスプレイはありません。
