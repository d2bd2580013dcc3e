frameWords-product = Signage Fleet
frameWords-nav-fleet = フリート
frameWords-nav-incidents = インシデント
frameWords-nav-quiet = 抑止時間
frameWords-nav-availability = 稼働率
frameWords-nav-batches = 一括コマンド
frameWords-nav-logs = ログ
frameWords-nav-conversions = プレゼンテーション
frameWords-nav-settings = 設定
frameWords-nav-wall = ウォール表示
frameWords-api = API
frameWords-titled = { $n ->
    [0] { $title }
   *[other] ({ NUMBER($n) }) { $title }
}
frameWords-skip = 本文へ移動
frameWords-zone = 時刻は { $zone }
frameWords-signOut = サインアウト
frameWords-help = キーボードショートカット
frameWords-updating = ライブ
frameWords-paused = 更新停止中
frameWords-connecting = 接続中…
frameWords-asOf = { $time }時点
frameWords-roles-viewer = 閲覧者
frameWords-roles-operator = オペレーター
frameWords-roles-admin = 管理者
frameWords-onlyFor = { $sites } のみ
