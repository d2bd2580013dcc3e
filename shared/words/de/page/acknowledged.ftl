acknowledgedWords-none = In den letzten 24 Stunden wurde nichts quittiert.
acknowledgedWords-failed = Die quittierten Ausfälle konnten nicht geladen werden.
