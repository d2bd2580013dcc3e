/** @type {typeof import("../roles.js").roleWords} */
export const roleWords = {
  viewer: "Betrachter: nur lesen",
  operator: "Bediener: auch eingreifen",
  admin: "Admin: alles",
};
