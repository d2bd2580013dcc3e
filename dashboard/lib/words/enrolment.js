// Generated from shared/words/en/page/enrolment.ftl
import { translate } from "../language.js";
export const enrolmentWords = {
  lead: "A display connects with a code that works once. Name the display, create its code, and give it the code.",
  emptyTitle: "No displays yet",
  emptyOther: "An admin can create a code with which the first display connects.",
  name: "Name of the display",
  site: "Site (optional)",
  create: "Create an enrolment code",
  creating: "Creating…",
  code: "Enrolment code",
  uuid: "Its uuid",
  until: ({ time, left }) => `Works once, until ${time} (${left} left)`,
  over: "This code has expired. Create a new one.",
  install: "On a display with Debian or Raspberry Pi OS, paste this line. It installs the agent and connects it:",
  ownCa: "The certificate of this service is signed by a CA of its own, which the line checks by its hash. A display that is only a browser has to trust it first:",
  how: "On another display, exchange the code for its login",
  then: "The answer holds the broker's address, user name and password. The display appears here with its first message.",
  connected: ({ age }) => `It has connected. Heard ${age}.`,
  qr: "Enrolment code as a QR code",
  qrHow: "Or let the display scan this: it holds the address and the code as JSON.",
  copyLine: "Copy the command",
};
translate("enrolment", { enrolmentWords });
