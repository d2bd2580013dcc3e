acknowledgedWords-none = 過去24時間に確認された障害はありません。
acknowledgedWords-failed = 確認済みの障害を読み込めませんでした。
