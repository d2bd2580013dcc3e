wallWords-bridge = ブリッジが応答しません。ディスプレイの状態は不明です。
wallWords-leave = フリートに戻る
wallWords-mended = サービス障害{ $n }件は復旧済みですが、未確認です。
