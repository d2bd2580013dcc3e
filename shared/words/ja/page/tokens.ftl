tokenWords-title = アクセストークン
tokenWords-lead = スクリプトや機械のためのものです。それぞれ権限を持ち、一度だけ表示され、いつでも失効できます。
tokenWords-none = トークンはまだ発行されていません。
tokenWords-failed = アクセストークンを読み込めませんでした。
tokenWords-name = 用途
tokenWords-role = 権限
tokenWords-expires = 有効期間
tokenWords-expiry = { $n ->
    [0] 無期限
    [365] 1年
   *[other] { $n }日
}
tokenWords-issue = トークンを発行
tokenWords-issuing = 発行中…
tokenWords-issued = 今コピーしてください。再表示はできません。
tokenWords-copy = トークンをコピー
tokenWords-lastUsed = 最終使用
tokenWords-neverUsed = 未使用
tokenWords-byService = 作成者: サーバー
tokenWords-ends = 期限
tokenWords-noEnd = 無期限
tokenWords-ended = 期限切れ
tokenWords-revoked = 失効済み
tokenWords-revoke = 失効
tokenWords-revokeOf = トークン { $name } を失効
tokenWords-revokeTitle = このトークンを失効しますか？
tokenWords-revokeWhy = 以後、これを使うものは拒否されます。元に戻せません。
