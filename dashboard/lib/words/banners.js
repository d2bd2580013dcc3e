// Generated from shared/words/en/page/banners.ftl
import { translate } from "../language.js";
export const bannerWords = {
  offline: ({ time }) => `The service does not answer. You see what was known at ${time}. Trying again automatically.`,
  offlineFromTheStart: "The service does not answer. Trying again automatically.",
  signOutFailed: "Signing out did not reach the service: you are still signed in. Try again in a moment.",
  bridge: ({ time }) => `Bridge silent since ${time}; display states are unknown.`,
  bridgeNever: "The bridge has not been heard from; display states are unknown.",
  bridgeWhy: "Nothing that displays send is being stored. Recovery does not act on what it cannot see.",
  scheduler: ({ time }) => `The scheduler is late: last tick ${time}.`,
  schedulerNever: "The scheduler has not ticked yet.",
  schedulerWhy: "Until it ticks, overdue commands do not expire and nothing is recovered.",
  empty: ({ sites }) => `No display is at ${sites}, a site of your rights.`,
  emptyWhy: "If the site has another name now, ask an admin to change your sites.",
  breaker: "Recovery holds back: too many displays failed at once.",
  release: "Let recovery act…",
};
translate("banners", { bannerWords });
