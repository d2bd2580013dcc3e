/** Failures that somebody acknowledged. */
export const acknowledgedWords = {
  none: "Nothing was acknowledged in the last 24 hours.",
  failed: "The acknowledged failures could not be loaded.",
};
