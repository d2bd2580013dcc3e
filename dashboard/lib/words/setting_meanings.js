// Generated from shared/words/en/page/setting_meanings.ftl
import { translate } from "../language.js";
export const settingMeanings = {};
translate("setting_meanings", { settingMeanings });
