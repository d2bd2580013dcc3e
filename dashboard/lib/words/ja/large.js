// Generated from shared/words/ja/page/large.ftl
import { number } from "../../format.js";
export const largeWords = {
  unwell: "表には、最も対応が必要なディスプレイを表示しています。ほかを表示するには、上で拠点か状態を選ぶか、検索してください。",
  search: "この規模のフリートでは、名前、ID、拠点、ホスト名、アドレスを検索します。",
  first: ({ n }) => `条件に合うもののうち${number(n)}台を表示しています。表示中のすべてへのコマンドは、この範囲だけに送られます。`,
  more: ({ n }) => `さらに${number(n)}台を表示`,
  failed: "ディスプレイを読み込めませんでした。",
  wall: ({ n }) => `ほかに${number(n)}拠点で対応が必要です`,
  wallWell: ({ n }) => `ほかの${number(n)}拠点は正常です`,
  pick: "大規模なフリートのため、フリートのページで表示したディスプレイだけが並びます。",
};
