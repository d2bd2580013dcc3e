/** What each setting means, by its name, in the reader's language; the English is the server's own (`shared/config.py`). */
import { translate } from "../language.js";

/** @type {Record<string, string>} */
export const settingMeanings = {};

translate("setting_meanings", { settingMeanings });
