incidentWords-title = インシデント
incidentWords-lead = 同時に異常になったディスプレイと、その共通点です。
incidentWords-which = 表示するインシデント
incidentWords-open = 継続中
incidentWords-closed = 終了
incidentWords-number = インシデント{ NUMBER($id) }
incidentWords-kind-site = 1拠点
incidentWords-kind-subnet = 1ネットワーク
incidentWords-kind-cluster = 複数の拠点
incidentWords-kind-listening = こちら側
incidentWords-ours = フリートからの通信が届いていません
incidentWords-are = { $members_n }台中{ $unwell_n }台がまだ異常
incidentWords-back = { $members_n ->
    [1] 復旧済み
   *[other] { $members_n }台すべて復旧
}
incidentWords-were = { $members_n }台
incidentWords-lasts = { $time }継続中
incidentWords-lasted = { $time }継続
incidentWords-merged = インシデント{ NUMBER($id) }の一部と分かりました。
incidentWords-inMaintenance = { $n }台は抑止時間中で、自動復旧は何も送りません。
incidentWords-before = 前回：インシデント { NUMBER($id) }
incidentWords-displays = ディスプレイ
incidentWords-well = 正常に復帰
incidentWords-timeline = 経過
incidentWords-noneOpen = 同時に異常になっているディスプレイはありません。
incidentWords-noneClosed = 終了したインシデントはまだありません。
incidentWords-maintenance = メンテナンスは…で予定できます。
incidentWords-failed = インシデントを読み込めませんでした。
incidentWords-failedOne = このインシデントを読み込めませんでした。
