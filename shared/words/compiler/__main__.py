"""`python -m shared.words.compiler` compiles what translators write (`make words`)."""

from shared.words.compiler import labels, tables

if __name__ == "__main__":
    tables.write()
    for file, text in labels.compiled().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
