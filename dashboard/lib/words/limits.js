// Generated from shared/words/en/page/limits.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const limitNames = {
  disk: "Disk",
  memory: "Memory",
  heat: "Temperature",
  certificate: "Certificate",
  clock: "Clock",
  voltage: "Power",
  read_only: "Writing",
  refused: "Orders",
};
export const limitValues = {
  share: ({ percent }) => `${percent} %`,
  heat: ({ degrees }) => `${degrees} °C`,
  certificate: ({ over, time }) => over ? "has ended" : `ends in ${time}`,
  clock: ({ how, time }) => how === "right" ? "right" : how === "fast" ? `${time} fast` : `${time} slow`,
  voltage: ({ low }) => low ? "too little voltage since the boot" : "enough voltage since the boot",
  read_only: ({ is }) => is ? "the disk takes no writes" : "the disk takes writes",
  refused: ({ some }) => some ? "not all taken" : "all taken",
};
export const limitTexts = {
  share: ({ percent }) => `limit ${percent} %`,
  heat: ({ degrees }) => `limit ${degrees} °C`,
  certificate: ({ n }) => `limit ${number(n)} ${n === 1 ? "day" : "days"} before the end`,
  clock: ({ time }) => `limit ${time}`,
};
export const limitWords = {
  passed: "past its limit since",
  stays: "The trouble ends when it has been better for a quarter of an hour.",
  refused: "Refused by the display:",
  orders: {
    commands: "commands",
    hours: "its opening hours",
    log_level: "its log level",
    look: "how its screen may look",
  },
  reasons: {
    unknown_zone: "it does not know their time zone. Choose an older name of the zone, or update the display.",
    unknown_level: "it does not know the level.",
    unsupported_version: "its client is too old for this form.",
    not_understood: "it does not understand them.",
  },
};
translate("limits", { limitNames, limitValues, limitTexts, limitWords });
