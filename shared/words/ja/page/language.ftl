languageWords-language = 言語（Language）
languageWords-asBrowser = ブラウザーに合わせる
