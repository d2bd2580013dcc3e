healthWords-none = このディスプレイはまだ状態を報告していません。
healthWords-at = 報告
healthWords-cpu = プロセッサー
healthWords-limit = 通常の上限 { $value } を超過
healthWords-machine = 機器
healthWords-os = システム
healthWords-boot = 起動 ID
healthWords-player = プレーヤー起動 ID
healthWords-interval = ハートビート間隔
healthWords-seconds = { $n }秒
healthWords-logLevel = ログレベル
healthWords-capabilities = 対応コマンド
healthWords-all = すべて

healthHistoryWords-title = 推移
healthHistoryWords-range = 期間
healthHistoryWords-days = { $n ->
    [1] 24時間
   *[other] { NUMBER($n) }日間
}
healthHistoryWords-ago = { $n ->
    [1] 24時間前
   *[other] { NUMBER($n) }日前
}
healthHistoryWords-now = 現在
healthHistoryWords-always = 常に{ $last }
healthHistoryWords-words = 最低{ $least }、最高{ $most }、最新{ $last }
healthHistoryWords-spoken = { $name }、過去{ $days_n ->
    [1] 24時間
   *[other] { NUMBER($days_n) }日間
}: { $words }。
healthHistoryWords-notTold = この期間の報告なし
healthHistoryWords-silent = この期間のうち{ $time }は報告がなく、線が途切れています。
healthHistoryWords-partly = 過去{ $days_n ->
    [1] 24時間
   *[other] { NUMBER($days_n) }日間
}のうち{ $known }だけ分かっています。残りは不明で、線が途切れています。
healthHistoryWords-nothing = この期間の報告はありません。動いているディスプレイは5分ごとに記録されます。
healthHistoryWords-means = 各点は{ $time }の平均です。最低と最高は個々の測定値です。
healthHistoryWords-failed = 推移を読み込めませんでした。
