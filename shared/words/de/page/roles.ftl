roleWords-viewer = Betrachter: liest
roleWords-operator = Bediener: greift auch ein
roleWords-admin = Admin: alles
