causeWords-title = 問題
causeWords-network = ネットワーク { $subnet }
causeWords-several = 複数の拠点
causeWords-some = 複数のディスプレイ
causeWords-since = 発生
causeWords-again = 24時間で{ $n }回目
causeWords-holds = 自動復旧を見合わせています。これほど同時なら、原因はこちら側かもしれません。
causeWords-acts = { $n }台を自動復旧中です。
causeWords-off = 自動復旧はオフです。
causeWords-show = { $n ->
    [1] 表示
   *[other] { $n }台を表示
}
causeWords-snooze = 拠点の通知停止…
causeWords-release = 再開…
causeWords-story = 経過
causeWords-unsteady = 不安定な接続: { $n }台
causeWords-worst = { $name } は過去1時間に{ $losses_n }回ブローカーから切断されました。現地のネットワークが原因と思われます。
causeWords-worstOf = いずれも過去1時間に3回以上ブローカーから切断されました。{ $name } は{ $losses_n }回です。現地のネットワークが原因と思われます。
causeWords-shared = 同じログインを使う2台の機器: { $n }台
causeWords-sharedWhy = どちらの機器にもコマンドが届きうるため、自動復旧はこのディスプレイに触れません。一方に新しいコードを発行すると解消します。
causeWords-andMore = ほか{ $n }台
causeWords-mended = 自動復旧は{ $since }以降、{ $n }件の障害を直しました。
