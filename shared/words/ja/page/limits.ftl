limitNames-disk = ディスク
limitNames-memory = メモリー
limitNames-heat = 温度
limitNames-certificate = 証明書
limitNames-clock = 時計
limitNames-voltage = 電源
limitNames-read_only = 書き込み
limitNames-refused = 指示

limitValues-share = { NUMBER($percent) }%
limitValues-heat = { NUMBER($degrees) } °C
limitValues-certificate = { $over ->
    [true] 期限切れ
   *[false] 残り{ $time }
}
limitValues-clock = { $how ->
    [right] 正確
    [fast] { $time }進み
   *[slow] { $time }遅れ
}
limitValues-voltage = { $low ->
    [true] 起動後に電圧不足あり
   *[false] 起動後の電圧は十分
}
limitValues-read_only = { $is ->
    [true] ディスクに書き込めません
   *[false] ディスクに書き込めます
}
limitValues-refused = { $some ->
    [true] 受け入れない指示あり
   *[false] すべて受け入れ済み
}

limitTexts-share = しきい値{ NUMBER($percent) }%
limitTexts-heat = しきい値{ NUMBER($degrees) } °C
limitTexts-certificate = しきい値 期限の{ $n }日前
limitTexts-clock = しきい値{ $time }

limitWords-passed = しきい値超過、発生
limitWords-stays = 15分間よい値が続くと解消します。
limitWords-refused = ディスプレイが拒否:
limitWords-orders-commands = コマンド
limitWords-orders-hours = 営業時間
limitWords-orders-log_level = ログレベル
limitWords-orders-look = 画面の見え方
limitWords-reasons-unknown_zone = このタイムゾーンを知りません。古い名前のタイムゾーンを選ぶか、ディスプレイを更新してください。
limitWords-reasons-unknown_level = このレベルを知りません。
limitWords-reasons-unsupported_version = クライアントが古く、この形式に対応していません。
limitWords-reasons-not_understood = 内容を理解できません。
