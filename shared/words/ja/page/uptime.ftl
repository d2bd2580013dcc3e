uptimeWords-title = 稼働時間
uptimeWords-range = 期間
uptimeWords-now = 現在
uptimeWords-days = { $n ->
    [1] 24時間
   *[other] { NUMBER($n) }日間
}
uptimeWords-up = 過去{ $days_n ->
    [1] 24時間
   *[other] { NUMBER($days_n) }日間
}の{ $share }で稼働。
uptimeWords-partly = 過去{ $days_n ->
    [1] 24時間
   *[other] { NUMBER($days_n) }日間
}のうち分かっている{ $known }では{ $share }稼働。残りは不明です。
uptimeWords-unknown = { $time }は不明です。
uptimeWords-upWhileOpen = 過去{ $days_n ->
    [1] 24時間
   *[other] { NUMBER($days_n) }日間
}の営業時間の{ $share }で稼働。
uptimeWords-closed = { $time }は営業時間外で、含みません。
uptimeWords-closedFor = 営業時間外、{ $time }
uptimeWords-nothingKnown = この期間は不明です。
uptimeWords-calm = この期間、クラッシュも応答なしもありません。
uptimeWords-calmAsKnown = 分かっている期間、クラッシュも応答なしもありません。
uptimeWords-lasted = { $time }継続
uptimeWords-more = それ以前にほか{ $n }回
uptimeWords-failed = 稼働時間を読み込めませんでした。
