### The choice of the page's language.

languageWords-language = Language
languageWords-asBrowser = As the browser
