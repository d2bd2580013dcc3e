/** @type {typeof import("../roles.js").roleWords} */
export const roleWords = {
  viewer: "Betrachter: liest",
  operator: "Bediener: handelt auch",
  admin: "Admin: alles",
};
