refused_why = { $reason ->
    [unknown_topic] 不明なトピックへの送信
    [bad_uuid] 誤った UUID での送信
    [too_large] サイズ超過
    [not_utf8] UTF-8 以外
    [not_json] JSON 以外
    [not_an_object] JSON オブジェクト以外
    [too_deep] 深すぎる入れ子
    [bad_number] 範囲外の数値
    [bad_field] 不正なフィールド
    [unsupported_version] 未対応のバージョン
    [unknown_client] 未登録のときの送信
    [refused_by_database] このサーバーの不具合による消失
   *[other] その他の理由
}
messages_refused = { $kind ->
    [heartbeat] ハートビート
    [health] 状態の報告
    [logs] ログ
    [service_failed] サービス障害
    [presence] ブローカーのセッションのメッセージ
    [acks] コマンドへの応答
   *[other] メッセージ
} { $n }件を拒否: { refused_why }

heartbeats_missing = メッセージは届きますが、ハートビートが届きません。{ $refused_is ->
    [empty] ブローカーが送信を許可しているか、ディスプレイが送っているかを確認してください
   *[some] 拒否の理由: { $refused }
}。
heartbeats_refused = { refused_why } { $n }件
