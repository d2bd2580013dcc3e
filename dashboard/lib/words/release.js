// Generated from shared/words/en/page/release.ftl
import { number } from "../format.js";
import { translate } from "../language.js";
export const releaseWords = {
  title: "Let recovery act?",
  ask: ({ n, most_n }) => `${number(n)} ${n === 1 ? "display is" : "displays are"} held back. Recovery may restart or reboot ${most_n === 1 ? "one" : `up to ${number(most_n)}`} of them now.`,
  later: "If more displays fail together later, recovery holds back again.",
  go: "Let it act",
  done: "Recovery may act now.",
  hold: "Hold again…",
};
translate("release", { releaseWords });
