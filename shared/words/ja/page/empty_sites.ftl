
emptySitesWords-none = 拠点 { $sites } にディスプレイはありません