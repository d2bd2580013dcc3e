passwordWords-title = 自分のパスワードを設定
passwordWords-why = 最初のパスワードは自動生成されたものです。続ける前に自分のものを設定してください。
passwordWords-current = 現在のパスワード
passwordWords-fresh = 新しいパスワード
passwordWords-go = パスワードを設定
passwordWords-going = 設定中…
passwordWords-wrong = 現在のパスワードが違います。
