### The list of single-key shortcuts.

shortcutWords-title = Keyboard shortcuts
shortcutWords-on = Use single-key shortcuts
shortcutWords-keys-search = Search displays
shortcutWords-keys-step = Next, previous display
shortcutWords-keys-open = Open the display
shortcutWords-keys-select = Select or deselect the display
shortcutWords-keys-close = Close the panel or dialog
shortcutWords-keys-fleet = Go to the fleet
shortcutWords-keys-logs = Go to the logs
shortcutWords-keys-presentations = Go to the presentations
shortcutWords-keys-incidents = Go to the incidents
shortcutWords-keys-quiet = Go to the quiet times
shortcutWords-keys-availability = Go to the availability
shortcutWords-keys-settings = Go to the settings
shortcutWords-keys-help = This list
shortcutWords-note = No key sends a command.
