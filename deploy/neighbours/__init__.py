"""Optional programs that show our displays in other products. Each speaks with the API, as a script does."""
