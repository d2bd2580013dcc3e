/** Limits of a display's health: a full disk, heat, a wrong clock. */
import { translate } from "../language.js";
import { duration } from "../measures.js";

/** @typedef {import("../openapi").HealthLimit} Limit */

const DAY = 86_400;

/** How a certificate stands that ends in so many days. @param {number} days */
const certificate = (days) => (days <= 0 ? "has ended" : `ends in ${duration(days * DAY)}`);

/** How far a clock is ahead or (negative) behind. @param {number} seconds */
const clock = (seconds) =>
  Math.abs(seconds) < 1 ? "right" : `${duration(Math.abs(seconds))} ${seconds > 0 ? "fast" : "slow"}`;

/** What each limit is of. @type {Record<Limit, string>} */
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

/** A value in words, after its name. @type {Record<Limit, (value: number) => string>} */
export const limitValues = {
  disk: (percent) => `${Math.floor(percent)} %`,
  memory: (percent) => `${Math.floor(percent)} %`,
  heat: (degrees) => `${Math.floor(degrees)} °C`,
  certificate,
  clock,
  voltage: (low) => (low ? "too little voltage since the boot" : "enough voltage since the boot"),
  read_only: (is) => (is ? "the disk takes no writes" : "the disk takes writes"),
  refused: (count) => (count ? "not all taken" : "all taken"),
};

/** A limit in words. @type {Record<Limit, (at: number) => string>} */
export const limitTexts = {
  disk: (at) => `limit ${at} %`,
  memory: (at) => `limit ${at} %`,
  heat: (at) => `limit ${at} °C`,
  certificate: (at) => `limit ${at} days before the end`,
  clock: (at) => `limit ${duration(at)}`,
  voltage: () => "",
  read_only: () => "",
  refused: () => "",
};

export const limitWords = {
  passed: "past its limit since",
  stays: "The trouble ends when it has been better for a quarter of an hour.",
  refused: "Refused by the display:",
  orders: /** @type {Record<string, string>} */ ({
    commands: "commands",
    hours: "its opening hours",
    log_level: "its log level",
  }),
  reasons: /** @type {Record<string, string>} */ ({
    unknown_zone: "it does not know their time zone. Choose an older name of the zone, or update the display.",
    unknown_level: "it does not know the level.",
    unsupported_version: "its client is too old for this form.",
    not_understood: "it does not understand them.",
  }),
};

translate("limits", { limitNames, limitValues, limitTexts, limitWords });
