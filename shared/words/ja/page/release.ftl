### ブレーカーを解除する前の確認。

releaseWords-title = 自動復旧を再開しますか？
releaseWords-ask = { $n }台の復旧を控えています。今すぐ最大{ $most_n }台を再起動する可能性があります。
releaseWords-later = 今後さらに多くのディスプレイが同時に停止した場合は、再び復旧を控えます。
releaseWords-go = 再開する
releaseWords-done = 自動復旧が再開されました。
releaseWords-hold = 再び保留…
