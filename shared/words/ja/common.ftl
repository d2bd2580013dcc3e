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

at_long = { NUMBER($at_year) }年{ $at_month }月{ $at_day }日{ at_weekday } { $at_clock }（{ $at_zone }）
at_weekday = { $at_weekday ->
    [1] 月曜日
    [2] 火曜日
    [3] 水曜日
    [4] 木曜日
    [5] 金曜日
    [6] 土曜日
   *[7] 日曜日
}
