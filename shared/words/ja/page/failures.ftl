failureWords-region = サービス障害
failureWords-title = { $n }台でサービス障害
failureWords-unit = サービス
failureWords-acknowledge = 確認
failureWords-acknowledgeOf = { $name } の障害を確認
failureWords-sending = 確認中…
failureWords-done = 確認済み
failureWords-by = { $who } が確認
failureWords-elsewhere = ほかの人が確認
failureWords-again = { $time }に再び障害。確認の前に見てください
failureWords-error = 確認が届きませんでした。
failureWords-refused = 確認できません: { $detail }
failureWords-mended = { $n }件のサービスが停止しましたが、復旧しています。
failureWords-wellSince = 正常に復帰
failureWords-mendedBy = { $who ->
    [recovery] 自動復旧が
   *[other] { $who } が
}再起動、正常に復帰
failureWords-acknowledgeThese = { $n }件をまとめて確認
failureWords-showAll = { $n }件すべて表示
failureWords-showLess = 少なく表示
failureWords-paused = { $time }時点、更新停止中
failureWords-viewer = 確認できるのはオペレーターだけです
