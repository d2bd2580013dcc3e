availabilityWords-title = 稼働率
availabilityWords-lead = 営業時間のうち、プレーヤーが動いていた割合です。状態が不明な時間は含みません。
availabilityWords-period = 期間
availabilityWords-weeks = 週
availabilityWords-months = 月
availabilityWords-thisWeek = 今週（途中）
availabilityWords-lastWeek = 先週
availabilityWords-first = 最初の日
availabilityWords-last = 最後の日
availabilityWords-soFar = { $month }（途中）
availabilityWords-print = 印刷
availabilityWords-csv = この一覧を表として保存
availabilityWords-sites = 拠点
availabilityWords-all = すべての拠点
availabilityWords-site = 拠点
availabilityWords-displays = ディスプレイ
availabilityWords-display = ディスプレイ
availabilityWords-share = 稼働
availabilityWords-down = 停止
availabilityWords-downEach = 1台あたりの停止
availabilityWords-unknown = 不明
availabilityWords-unknownEach = 1台あたりの不明
availabilityWords-known = { $n ->
    [1] 判明分は{ $time }
   *[other] 判明分は1台平均{ $time }
}
availabilityWords-none = ディスプレイはまだありません。
availabilityWords-noneHere = この拠点にディスプレイはありません。
availabilityWords-failed = 稼働率を読み込めませんでした。
availabilityWords-was = { $period }の営業時間の{ $share }で稼働: { $n }台。
availabilityWords-nothing = { $period }のことは何も分かっていません。
availabilityWords-knownEach = { $n ->
    [1] 分かっているのはそのうち{ $time }です。
   *[other] 分かっているのはそのうち1台平均{ $time }です。
}
availabilityWords-downFor = { $n ->
    [1] { $time }停止。
   *[other] 1台平均{ $time }停止。
}
availabilityWords-unknownFor = { $n ->
    [1] { $time }は状態不明。
   *[other] 1台平均{ $time }は状態不明。
}
availabilityWords-closedFor = { $n ->
    [1] { $time }は営業時間外で、含みません。
   *[other] 1台平均{ $time }は営業時間外で、含みません。
}
availabilityWords-days = 日ごと
availabilityWords-day = { $day }: { $share }
availabilityWords-scale = 棒の高さは失われた時間です。いっぱいの棒は営業時間の1割以上です。
availabilityWords-zone = 日付のタイムゾーン: { $zone }。
