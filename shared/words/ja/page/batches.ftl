batchWords-region = 選択したディスプレイ
batchWords-listed = 選択なし: 一覧の{ $n }台が対象
batchWords-selected = { $n }台を選択中
batchWords-clear = 選択を解除
batchWords-quiet = 抑止時間…
batchWords-later = あとで…
batchWords-silent = ブリッジが応答しません。ディスプレイの状態は不明です
batchWords-title = { $action }: { $n }台
batchWords-would = { $outcome ->
    [accepted] { $n }台に送信
    [waiting] { $n }台は後の段階で送信
    [command_in_flight] { $n }台はすでにコマンドあり
    [locked_out] { $n }台は{ $until }までクールダウン中
    [not_capable] { $n }台は非対応
    [unknown_client] { $n }台はもう存在しません
   *[other] { $n } { $outcome }
}
batchWords-reason = 理由（任意）
batchWords-waves = 段階的に: 1台、次に10%、次に残り。10%を超えて失敗したら止めます
batchWords-type = 続けるには{ NUMBER($n) }と入力
batchWords-go = { $action }: { $n }台
batchWords-page = すべての一括コマンド
batchWords-pageTitle = 一括コマンド
batchWords-lead = 多くのディスプレイに一度に送ったコマンドと、それぞれの結果です。
batchWords-one = 一括コマンドの詳細
batchWords-none = 一括コマンドはまだありません。フリートの表でディスプレイを選択してください。
batchWords-failed = 一括コマンドを読み込めませんでした。
batchWords-failedOne = この一括コマンドを読み込めませんでした。
batchWords-progress-good = { $all_n }台中{ $n }台が成功
batchWords-progress-going = { $n }台が実行中
batchWords-progress-waiting = { $n }台が後の段階を待機中
batchWords-progress-bad = { $n }台が失敗
batchWords-progress-unsent = { $n }台は未送信（{ $why }）
batchWords-progress-whole = { $parts }。
batchWords-unsentAmount = { $why } { $n }
batchWords-unsent-command_in_flight = すでにコマンドあり
batchWords-unsent-locked_out = クールダウン中
batchWords-unsent-not_capable = 非対応
batchWords-unsent-unknown_client = 不明
batchWords-unsent-aborted = 中止
batchWords-wave = 第{ NUMBER($n) }段階
batchWords-waveOf = 第{ NUMBER($n) }段階 / 全{ NUMBER($all) }段階
batchWords-pause = 一時停止
batchWords-resume = 再開
batchWords-abort = 残りを中止
batchWords-state-running = 実行中
batchWords-state-paused = 一時停止中
batchWords-state-finished = 終了
batchWords-state-aborted = 中止
batchWords-state-succeeded = 成功
batchWords-state-partial = 一部成功
batchWords-state-failed = 失敗
batchWords-outcome-accepted = 受付済み
batchWords-outcome-waiting = 段階を待機中
batchWords-outcome-command_in_flight = すでにコマンドあり
batchWords-outcome-locked_out = クールダウン中
batchWords-outcome-not_capable = 非対応
batchWords-outcome-unknown_client = 不明
batchWords-outcome-aborted = 未送信
