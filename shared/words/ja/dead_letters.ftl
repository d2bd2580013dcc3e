only_counted = この送信元の異なるメッセージが{ $limit }件を超えたため、件数のみ
