/** What is wrong with a display, as the overview's row says it. */

/** @typedef {import("./types").Client} Client */

/** It sends messages, but no heartbeats. @param {Client} client */
export const isMute = (client) => client.recovery?.mute ?? false;

/** @param {Client} client */
export function isUnwell(client) {
  const { status } = client;
  return (
    status === "crashed" ||
    status === "stale" ||
    isMute(client) ||
    client.service_failed_at !== null ||
    Boolean(client.screen_failed_since) ||
    client.limits?.length > 0
  );
}
