// Generated from shared/words/en/page/frame.ftl
import { translate } from "../language.js";
export const frameWords = {
  product: "Signage Fleet",
  nav: {
    fleet: "Fleet",
    incidents: "Incidents",
    quiet: "Quiet times",
    availability: "Availability",
    batches: "Bulk commands",
    logs: "Logs",
    conversions: "Presentations",
    settings: "Settings",
    wall: "Wall",
  },
  api: "API",
  titled: ({ n, title }) => n === 0 ? `${title}` : `(${n}) ${title}`,
  skip: "Skip to content",
  zone: ({ zone }) => `Times in ${zone}`,
  signOut: "Sign out",
  help: "Keyboard shortcuts",
  updating: "Live",
  paused: "Not updating",
  connecting: "Connecting…",
  asOf: ({ time }) => `as of ${time}`,
  roles: {
    viewer: "viewer",
    operator: "operator",
    admin: "admin",
  },
  onlyFor: ({ sites }) => `for ${sites} only`,
};
translate("frame", { frameWords });
