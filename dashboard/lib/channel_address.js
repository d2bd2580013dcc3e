/** The address of a channel, made from what the form asks for: an address of Apprise, or a webhook's URL. */

/** @typedef {"mail" | "teams" | "slack" | "telegram" | "webhook" | "apprise"} Service what the form calls a kind */

/** @type {Service[]} */
export const SERVICES = ["mail", "teams", "slack", "telegram", "webhook", "apprise"];

/** @type {Record<string, Service>} scheme of an Apprise address -> service */
const SCHEMES = {
  mailto: "mail",
  mailtos: "mail",
  workflow: "teams",
  workflows: "teams",
  slack: "slack",
  tgram: "telegram",
};

const SLACK = /^https:\/\/hooks\.slack\.com\/services\/(\w+)\/(\w+)\/(\w+)\/?$/i;
const TEAMS =
  /^https:\/\/([\w.-]+(?::\d+)?)(\/powerautomate\/automations\/direct(?:\/cu\/(\d+))?)?\/workflows\/([\w-]+)\/triggers\/manual\/paths\/invoke\/?\?(.+)$/i;

/** How a mail server is spoken to: the port that is usual for it. @type {Record<string, number>} */
export const MAIL_PORTS = { starttls: 587, ssl: 465, insecure: 25 };

/** The service of a saved channel, by its address without secrets. @param {{kind: string, address: string}} channel */
export function serviceOf({ kind, address }) {
  return kind === "webhook" ? "webhook" : (SCHEMES[address.split(":")[0] ?? ""] ?? "apprise");
}

/** Which kind of the API a service is. @param {Service} service */
export const kindOf = (service) => (service === "webhook" ? "webhook" : "apprise");

/** @param {string} text */
const list = (text) => text.split(/[\s,;]+/).filter(Boolean);

/** @param {Record<string, string>} fields */
function mail({ server = "", port = "", security = "starttls", user = "", password = "", from = "", to = "" }) {
  const login = user && `${encodeURIComponent(user)}${password && `:${encodeURIComponent(password)}`}@`;
  const scheme = security === "insecure" ? "mailto" : "mailtos";
  const more = new URLSearchParams({ smtp: server, from, to: list(to).join(","), mode: security });
  return `${scheme}://${login}${server}:${port || MAIL_PORTS[security]}/?${more}`;
}

/** @param {string} url of an incoming webhook of Slack */
function slack(url) {
  const [, team, app, secret] = SLACK.exec(url) ?? [];
  return secret ? `slack://${team}/${app}/${secret}/` : url;
}

/** @param {string} url of a workflow of Teams that posts what it receives */
function teams(url) {
  const [, host, direct, route, workflow, query] = TEAMS.exec(url) ?? [];
  if (!host) return url;
  return `workflows://${host}/${workflow}/?${query}${direct ? "&pa=yes" : ""}${route ? `&route=${route}` : ""}`;
}

/** @param {string} token of a bot @param {string} chats */
function telegram(token, chats) {
  const to = list(chats).map((chat) => encodeURIComponent(chat).replace("%40", "@"));
  return `tgram://${token}/${to.join("/")}/`;
}

/**
 * The address. A URL that does not look as it should stays as it is: the API refuses it in words.
 * @param {Service} service @param {Record<string, string>} fields
 */
export function addressOf(service, fields) {
  if (service === "mail") return mail(fields);
  if (service === "telegram") return telegram(fields["token"] ?? "", fields["chats"] ?? "");
  const url = fields["url"] ?? "";
  return service === "slack" ? slack(url) : service === "teams" ? teams(url) : url;
}
