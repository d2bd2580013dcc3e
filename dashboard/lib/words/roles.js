/** What each role may do. @type {Record<string, string>} */
export const roleWords = {
  viewer: "viewer: reads",
  operator: "operator: also acts",
  admin: "admin: everything",
};
