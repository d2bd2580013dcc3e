takenWords-take = 対応します
takenWords-takeOf = { $name }: 対応します
takenWords-mine = { $since }からあなたが対応中です。
takenWords-theirs = { $since }から { $who } が対応中です。
takenWords-takeOver = 引き継ぐ
takenWords-giveBack = 担当を外れる
takenWords-writeNote = メモ…
