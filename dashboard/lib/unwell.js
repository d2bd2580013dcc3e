/** What is wrong with a display, as the overview's row says it. */

/** @typedef {import("./types").Client} Client */

/** It sends messages, but no heartbeats. @param {Client} client */
export const isMute = (client) => client.recovery?.mute ?? false;

/**
 * Whether a display needs help. `large_store` counts the same; recovery's `is_unwell` counts neither passed limits nor
 * displays without heartbeats.
 * @param {Client} client
 */
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
