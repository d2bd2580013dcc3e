quietNowWords-how-maintenance = メンテナンス中
quietNowWords-how-opening_hours = 営業時間外
quietNowWords-how-hold = 保留中
quietNowWords-how-leave_out = 除外中
quietNowWords-how-snooze = 通知停止中
quietNowWords-how-custom = 抑止中
quietNowWords-until = 、{ $time }まで
quietNowWords-by = 、設定者 { $who }
quietNowWords-cuts = 抑止時間中に実行されます: { $what }。
quietNowWords-waiting = { $n }台は一括コマンドを控える抑止時間中で、終わるまで待ちます。

quietBannerWords-fleet = フリート全体
quietBannerWords-text = { $whom }: { $word }。
quietBannerWords-many = { $n }拠点がメンテナンス中です。
quietBannerWords-endOf = { $whom } のメンテナンスを終了
quietBannerWords-all = 抑止時間
