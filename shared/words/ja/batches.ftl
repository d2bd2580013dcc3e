too_many_unproven = { $sent }件中{ $unproven }件のコマンドが、成功を確認できないまま終わりました{ $excused ->
    [0] {""}
   *[other] （うち{ $excused }件は了承済み）
}。上限の { $limit }{ $share ->
    [yes] %
   *[no] {""}
} を超えています。{ $waiting }件は未送信です。
wave_proves_nothing = 第{ NUMBER($wave) }段階では、どのディスプレイにもコマンドを送れませんでした。何も確かめられません。
members_wait = { $members }台が待機中です。抑止時間のため、一括コマンドは{ $at_is ->
    [some] { at_long }
   *[none] 誰かが終える
}まで待ちます。

maker_may_not = { who_did }送信する権限はもうありません。{ $displays }台には何も送られませんでした。
not_at_makers_sites = { $displays }台には何も送られませんでした。{ who_did }権限を持つ拠点にもうありません。

batch_paused = { who_did }一時停止しました。
batch_aborted = { who_did }中止しました。未送信{ $not_sent }件、取り消し{ $withdrawn }件。
