as_given = { $text }
in_turn = { $sentences }

seconds_long = { $seconds_n }{ $seconds_unit ->
    [day] 日
    [hour] 時間
    [minute] 分
   *[second] 秒
}

who = { $by_kind ->
    [nobody] 誰か
    [display] ディスプレイ
    [service] サーバー
    [recovery] 自動復旧
   *[person] { $by }
}
# した人に続く「が」。ラテン文字の名前の後は空ける
who_did = { who }{ $by_ends ->
    [latin] {" "}
   *[other] {""}
}が
