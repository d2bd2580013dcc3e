largeWords-unwell = 表には、最も対応が必要なディスプレイを表示しています。ほかを表示するには、上で拠点か状態を選ぶか、検索してください。
largeWords-search = この規模のフリートでは、名前、ID、拠点、ホスト名、アドレスを検索します。
largeWords-first = 条件に合うもののうち{ $n }台を表示しています。表示中のすべてへのコマンドは、この範囲だけに送られます。
largeWords-more = さらに{ $n }台を表示
largeWords-failed = ディスプレイを読み込めませんでした。
largeWords-wall = ほかに{ $n }拠点で対応が必要です
largeWords-wallWell = ほかの{ $n }拠点は正常です
largeWords-pick = 大規模なフリートのため、フリートのページで表示したディスプレイだけが並びます。
