/** The list of single-key shortcuts. */
import { translate } from "../language.js";

export const shortcutWords = {
  title: "Keyboard shortcuts",
  on: "Use single-key shortcuts",
  list: [
    ["/", "Search displays"],
    ["j  k", "Next, previous display"],
    ["Enter", "Open the display"],
    ["x", "Select or deselect the display"],
    ["Esc", "Close the panel or dialog"],
    ["g f", "Go to the fleet"],
    ["g l", "Go to the logs"],
    ["g c", "Go to the presentations"],
    ["g i", "Go to the incidents"],
    ["g q", "Go to the quiet times"],
    ["g a", "Go to the availability"],
    ["g s", "Go to the settings"],
    ["?", "This list"],
  ],
  note: "No key sends a command.",
};

translate("shortcuts", { shortcutWords });
