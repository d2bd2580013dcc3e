// Generated from shared/words/en/page/password.ftl
import { translate } from "../language.js";
export const passwordWords = {
  title: "Set your own password",
  why: "Your first password was generated. Set your own before you continue.",
  current: "Current password",
  fresh: "New password",
  go: "Set the password",
  going: "Setting…",
  wrong: "The current password is wrong.",
};
translate("password", { passwordWords });
