roleWords-viewer = 閲覧者: 見るだけ
roleWords-operator = オペレーター: 操作も可
roleWords-admin = 管理者: すべて
