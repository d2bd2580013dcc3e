### Lists and ranges.

listWords-between = {", "}
listWords-to = –
