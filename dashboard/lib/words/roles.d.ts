// Generated from shared/words/*/page/roles.ftl
export const roleWords: {
  viewer: string;
  operator: string;
  admin: string;
} & Record<string, string>;
