dayWords-week = 過去7日間
dayWords-hours = { $day }、1時間ごとの最も悪い状態: { $parts }
dayWords-halfHours = 過去24時間、30分ごとの最も悪い状態: { $parts }
dayWords-closed = 営業時間外または未登録
dayWords-part = { $word } { $n }回
