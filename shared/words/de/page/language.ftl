languageWords-language = Sprache (Language)
languageWords-asBrowser = Wie der Browser
