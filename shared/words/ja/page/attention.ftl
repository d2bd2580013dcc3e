attentionWords-title = 対応が必要
attentionWords-count = { $n }台{ $told_n ->
    [0] {""}
   *[other] （上の{ $told_n }台を除く）
}
attentionWords-wrong = 問題
attentionWords-did = これまでの自動復旧
attentionWords-why = いま動かない理由
attentionWords-showAll = 残り{ $n }台を表示
attentionWords-inTable = 残り{ $n }台は、タイルと下の表で確認できます
attentionWords-crashed = プレーヤーがクラッシュ
attentionWords-stale = 応答なし、最後のハートビート
attentionWords-staleNever = 応答なし
attentionWords-mute = メッセージは届くがハートビートなし、最後は
attentionWords-failed = サービス { $unit } に障害
attentionWords-screen = { $how ->
    [black] 黒い画面
    [frozen] 画面のフリーズ
    [white] 白い画面
    [hung] ブラウザー応答なし
    [error_page] エラーページ
    [no_page] ページなし
    [wrong_page] 想定外のページ
    [off] 予定外の消灯
    [disconnected] 画面の未接続
   *[other] { $how }
}、発生
attentionWords-limit = しきい値超過: { $passed }、発生
attentionWords-step = { $action }: { $step }
attentionWords-nothingYet = まだありません
attentionWords-sentLately = 最近、再起動を送信しました
attentionWords-steps = これまで{ $n }回試行
attentionWords-until = { $time }まで（残り{ $left }）。
attentionWords-incident = インシデント{ NUMBER($id) }の一部
attentionWords-notUnwell = 自動復旧の対象外です
attentionWords-heldBack = ほかと同様に待機中です。上を参照。
