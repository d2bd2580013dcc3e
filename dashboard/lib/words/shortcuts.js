// Generated from shared/words/en/page/shortcuts.ftl
import { translate } from "../language.js";
export const shortcutWords = {
  title: "Keyboard shortcuts",
  on: "Use single-key shortcuts",
  keys: {
    search: "Search displays",
    step: "Next, previous display",
    open: "Open the display",
    select: "Select or deselect the display",
    close: "Close the panel or dialog",
    fleet: "Go to the fleet",
    logs: "Go to the logs",
    presentations: "Go to the presentations",
    incidents: "Go to the incidents",
    quiet: "Go to the quiet times",
    availability: "Go to the availability",
    settings: "Go to the settings",
    help: "This list",
  },
  note: "No key sends a command.",
};
translate("shortcuts", { shortcutWords });
