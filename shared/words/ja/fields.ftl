of_field = { $field }: { $why }。
field_unknown = この項目はありません
field_missing = この項目は必須です
field_once = 値を1つだけ指定してください
field_in_calendar = UTC で1年から9999年までの時刻を指定してください
field_before_until = 終わり（until）より前の時刻を指定してください
field_page_cursor = この一覧のページの next_cursor を指定してください
field_earlier_cursor = 以前の応答のカーソルを指定してください
field_etag_of_failure = 障害の service_failed_at を引用符で囲んで指定してください
field_reason_of_override = ロックを外すには理由が必要です
field_clients_or_filter = ディスプレイの一覧か、1項目以上の絞り込みのどちらかを指定してください
field_file_size = 1以上を指定してください。空のファイルは送れません
field_nothing_unless = 対象が{ scope_named }のときだけ指定できます
field_with_scope = 対象が{ scope_named }のときは必須です
field_text = { of_characters }テキストを指定してください
field_form = 形式 { $pattern } のテキストを指定してください
field_whole_number = { from_to }整数を指定してください
field_number = 数値を指定してください
field_list = { of_items }一覧を指定してください
field_object = オブジェクトを指定してください
field_flag = true か false を指定してください
field_one_of = 次のいずれかを指定してください: { $choices }
field_date = 2026-03-01のような日付を指定してください
field_time = 2026-03-01T12:00:00Z のようなタイムゾーン付きの時刻を指定してください

of_characters = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] { $least } 文字以上の
    }
   *[some] { $least_is ->
        [none] { $most } 文字以下の
       *[some] { $least }～{ $most } 文字の
    }
}

from_to = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] { $least } 以上の
    }
   *[some] { $least_is ->
        [none] { $most } 以下の
       *[some] { $least }～{ $most } の
    }
}

of_items = { $most_is ->
    [none] { $least_is ->
        [none] {""}
       *[some] { $least } 件以上の
    }
   *[some] { $least_is ->
        [none] { $most } 件以下の
       *[some] { $least }～{ $most } 件の
    }
}

scope_named = { $scope ->
    [site] 拠点
    [tag] タグ
    [clients] ディスプレイ
   *[fleet] フリート
}
