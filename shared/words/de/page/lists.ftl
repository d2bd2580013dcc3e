listWords-between = {", "}
listWords-to = –
