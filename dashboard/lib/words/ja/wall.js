/** @type {typeof import("../wall.js").wallWords} */
export const wallWords = {
  bridge: "ブリッジが応答しません。ディスプレイの状態は不明です。",
  leave: "フリートに戻る",
};
