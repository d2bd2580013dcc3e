/**
 * Clients from the overview's columns (`format=packed`). Their names: COLUMNS in shared/overview/store.py,
 * packed_store.py, Packed in functions/api/routes/monitoring.py, shapes/clients.py.
 */

const HEX = Array.from({ length: 256 }, (_, byte) => (256 + byte).toString(16).slice(1));
const TIME = /_(at|since|until)$/; // a column is of times if its name ends so

/** @param {string} bytes of all uuids @param {number} i */
function uuidOf(bytes, i) {
  let text = "";
  for (let at = 0; at < 16; at++)
    text += (at > 3 && at < 11 && !(at % 2) ? "-" : "") + HEX[bytes.charCodeAt(16 * i + at)];
  return text;
}

/**
 * A time from its age in seconds before `second`; the text after the number is the fraction.
 * @param {number | string | null} ago @param {number} second
 */
function timeOf(ago, second) {
  if (ago === null) return null;
  const [seconds, fraction] = String(ago).split(".");
  return new Date((second - Number(seconds)) * 1000).toISOString().slice(0, 19) + (fraction ? `.${fraction}Z` : "Z");
}

/**
 * One object for each client.
 * @param {{uuid: string}} packed @param {string} serverTime of the same answer
 * @returns {any[]}
 */
export function unpack({ uuid, ...others }, serverTime) {
  const second = Math.floor(Date.parse(serverTime) / 1000);
  const bytes = atob(uuid);
  const columns = Object.entries(/** @type {Record<string, any>} */ (others)).map(([name, told]) => {
    const { words, places } = told;
    if (words) return { name, values: places.map((/** @type {number} */ place) => words[place]) };
    return { name, values: TIME.test(name) ? told.map((/** @type {any} */ ago) => timeOf(ago, second)) : told };
  });
  return Array.from({ length: bytes.length / 16 }, (_, i) => {
    const client = /** @type {any} */ ({ uuid: uuidOf(bytes, i) });
    for (const { name, values } of columns) client[name] = values[i];
    return client;
  });
}
