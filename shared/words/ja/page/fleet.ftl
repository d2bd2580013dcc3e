tileWords-late = 遅延{ $n }台
tileWords-hint = { $on ->
    [true] すべてのディスプレイを再び表示
   *[false] 「{ $word }」だけを表示
}

selectionWords-one = { $name } を選択
selectionWords-all = 一覧のディスプレイをすべて選択

tableWords-fine = { $all_n }台中{ $n }台の画面が正常です
tableWords-dark = { $n }か所の拠点が停止中
tableWords-others = { $n }台に対応が必要
tableWords-unknown = { $n }台は不明
tableWords-title = ディスプレイ
tableWords-name = ディスプレイ
tableWords-site = 拠点
tableWords-status = 状態
tableWords-heartbeat = ハートビート
tableWords-day = 24時間
tableWords-pictures = 画像
tableWords-version = バージョン
tableWords-ip = IP
tableWords-reconnects = 再接続
tableWords-changed = { $n }件変化
tableWords-resort = 並べ直す
tableWords-nothing = 該当するディスプレイはありません。
tableWords-csv = 一覧のディスプレイをすべて表として保存
tableWords-failed = サービス障害
tableWords-mended = 障害は復旧済み
tableWords-screen = { $how ->
    [black] 黒い画面
    [frozen] 画面のフリーズ
    [white] 白い画面
    [hung] ブラウザー応答なし
    [error_page] エラーページ
    [no_page] ページなし
    [wrong_page] 想定外のページ
    [off] 画面オフ
    [disconnected] 画面なし
   *[other] { $how }
}
tableWords-passed = { $limit ->
    [heat] 高温{ NUMBER($n) } °C
    [clock] 時計のずれ
    [voltage] 低電圧
    [read_only] ディスク書き込み不可
    [refused] 指示を拒否
    [certificate] 証明書 残り{ NUMBER($n) }日
    [ended] 証明書切れ
   *[other] { $limit ->
        [disk] ディスク
        [memory] メモリー
       *[other] { $limit }
    }使用率{ NUMBER($n) }%
}
tableWords-mute = ハートビートなし
tableWords-unsteady = 不安定な接続
tableWords-unsteadyHow = 過去1時間に{ $losses_n }回切断
tableWords-locked = クールダウン中
tableWords-open = コマンド: { $word }
tableWords-recent = 最近の確認
tableWords-connect = ディスプレイを接続
tableWords-nothingYet = ディスプレイの状態はまだ不明です。サーバーが応答すると表示されます。
