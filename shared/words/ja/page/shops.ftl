finderWords-region = ディスプレイを検索
finderWords-search = 名前、拠点、タグ、状態、サービス…
finderWords-searchLabel = ディスプレイを検索
finderWords-found = { $all_n }台{ $every ->
    [true] {""}
   *[false] 中{ $n }台
}{ $more ->
    [true] 以上
   *[false] {""}
}
finderWords-without = 絞り込み { $part } を解除
finderWords-tag = タグ { $tag }
finderWords-incident = インシデント{ $id }
finderWords-unsteady = 不安定な接続
finderWords-clear = 絞り込みを解除

shopWords-title = 拠点
shopWords-none = 拠点なし
shopWords-well = { $n ->
    [1] 正常
   *[other] { $n }台すべて正常
}
shopWords-are = { $all_n }台中{ $n }台が{ $how ->
    [stale] 応答なし
    [crashed] クラッシュ
    [bad] 異常
   *[other] { $how }
}
shopWords-more = +{ $n }
shopWords-all = { $n }拠点をすべて表示
shopWords-tags = タグ
shopWords-allTags = { $n }個のタグをすべて表示
