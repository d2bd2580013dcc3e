// Generated from shared/words/ja/page/roles.ftl
export const roleWords = {
  viewer: "閲覧者: 見るだけ",
  operator: "オペレーター: 操作も可",
  admin: "管理者: すべて",
};
