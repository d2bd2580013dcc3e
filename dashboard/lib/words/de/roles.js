// Generated from shared/words/de/page/roles.ftl
export const roleWords = {
  viewer: "Betrachter: liest",
  operator: "Bediener: greift auch ein",
  admin: "Admin: alles",
};
