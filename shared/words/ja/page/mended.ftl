mendedWords-title = 復旧済みの障害を確認
mendedWords-lead = これらのディスプレイは再び稼働しており、状態報告に障害はありません。
mendedWords-left = { $n }件が残りました。再び障害になったか、ほかの人が先に確認しました。
