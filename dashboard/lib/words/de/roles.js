/** @type {typeof import("../roles.js").roleWords} */
export const roleWords = {
  viewer: "Betrachter: liest",
  operator: "Bediener: greift auch ein",
  admin: "Admin: alles",
};
