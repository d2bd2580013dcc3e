/** Exports as CSV: the listed displays, logs, and availability. */
import { csv, save } from "./csv.js";
import { clients } from "./fleet.js";
import { serverNow } from "./clock.js";

/** @typedef {import("./types").Client} Client */
/** @typedef {import("./types").LogRow} LogRow */

const PAGE = 1_000; // lines; the limit of one answer
const LINES_MOST = 10_000;

/** @type {(keyof Client)[]} */
const CLIENT = [
  "uuid",
  "name",
  "site",
  "tags",
  "status",
  "status_since",
  "last_heartbeat_at",
  "screen_health",
  "screen_failed_since",
  "service_failed_unit",
  "service_failed_at",
  "mqtt_reconnect_count",
  "mqtt_last_disconnect_at",
  "shared_login_seen_at",
  "app_version",
  "ip",
  "hostname",
];
/** @type {(keyof LogRow)[]} */
const LOG = ["received_at", "level", "client_uuid", "client_name", "logger", "message", "client_time"];

/** @param {unknown} value @returns {string | number | null} */
const told = (value) =>
  Array.isArray(value) ? value.join(" ") : typeof value === "number" ? value : value == null ? null : String(value);

/** "displays 2026-11-21 14.02.11.csv", in UTC. @param {string} what */
function fileName(what) {
  return `${what} ${new Date(serverNow()).toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".")}.csv`;
}

/** @param {string[]} uuids in this order */
export function saveDisplays(uuids) {
  const rows = uuids.map((uuid) => clients.get(uuid)).filter((client) => client !== undefined);
  save(
    fileName("displays"),
    csv(
      CLIENT,
      rows.map((client) => CLIENT.map((name) => told(client[name]))),
    ),
  );
}

/**
 * The newest lines, page by page.
 * @param {(cursor: string | null, limit: number) => Promise<import("./types").Page<LogRow>>} load
 * @param {Partial<LogRow>} also what each line is of, where the list does not say it
 */
export async function saveLogs(load, also = {}) {
  /** @type {LogRow[]} */
  const rows = [];
  let cursor = /** @type {string | null} */ (null);
  do {
    const page = await load(cursor, PAGE);
    rows.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && rows.length < LINES_MOST);
  save(
    fileName("logs"),
    csv(
      LOG,
      rows.map((row) => LOG.map((name) => told({ ...row, ...also }[name]))),
    ),
  );
}

const SPENT = /** @type {const} */ ([
  "displays",
  "period_seconds",
  "up_seconds",
  "down_seconds",
  "unknown_seconds",
  "closed_seconds",
]);

/**
 * Seconds of sites, or of the displays of one.
 * @param {import("./availability.js").Period} period
 * @param {(import("./availability.js").Sum & {site: string, name: string, uuid: string})[]} rows
 */
export function saveAvailability({ since, until }, rows) {
  save(
    `availability ${since} ${until}.csv`,
    csv(
      ["since", "until", "site", "display", "uuid", "available_percent", ...SPENT],
      rows.map((row) => {
        const known = row.up_seconds + row.down_seconds;
        const share = known > 0 ? Math.floor((row.up_seconds / known) * 100_000) / 1000 : null;
        return [since, until, row.site, row.name, row.uuid, share, ...SPENT.map((name) => Math.round(row[name]))];
      }),
    ),
  );
}
