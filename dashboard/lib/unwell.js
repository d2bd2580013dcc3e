/** What is wrong with a display, as the overview's row says it. */

/** @typedef {import("./types").Client} Client */

/** Only its heartbeats do not come. @param {Client} client */
export const isMute = (client) => client.recovery?.mute ?? false;

/** A service failed and is not mended. @param {Client} client */
export const serviceFails = (client) => client.service_failed_at !== null && !client.service_mended_at;

/** Whether it needs help, as `large_store` counts. @param {Client} client */
export function isUnwell(client) {
  const { status } = client;
  return (
    status === "crashed" ||
    status === "stale" ||
    isMute(client) ||
    serviceFails(client) ||
    Boolean(client.screen_failed_since) ||
    client.limits?.length > 0
  );
}
