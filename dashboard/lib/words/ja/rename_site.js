// Generated from shared/words/ja/page/rename_site.ftl
import { number } from "../../format.js";
export const renameWords = {
  link: ({ site }) => `${site} の名前を変更…`,
  title: ({ site }) => `${site} の名前を変更`,
  how: "ディスプレイ、権限、チャンネル、抑止時間、予約コマンド、ステータスページの名前がすぐに変わります。",
  to: "新しい名前",
  go: "変更する",
  merge: ({ site }) => `拠点 ${site} はすでにあります。2つを1つにまとめます。営業時間はその拠点のものになります。元には戻せません。`,
  atProvider: ({ n }) => `サインインサービスは、次のサインインで${number(n)}人に古い名前を渡します。そこでも拠点の名前を変更してください。変更しないと、ディスプレイが見えなくなります。`,
};
