import { inUnit, number, person } from "../../format.js";
import { byCount, joined, word, unitOf } from "../../sentence_facts.js";
import { actionWords } from "../states.js";

/** @param {number} seconds */
const lasting = (seconds) => inUnit(...unitOf(seconds));

/** @param {string | null} by */
function who(by) {
  if (by === "recovery") return "自動復旧";
  if (by?.startsWith("display:")) return "ディスプレイ";
  if (by === "service") return "サーバー";
  return by === null ? "誰か" : person(by);
}
/** Who did it. @param {string | null} by */
const didIt = (by) => `${who(by)}${/[!-~]$/.test(who(by)) ? " " : ""}が`;
/** @param {string} action */
const asked = (action) => word(actionWords, action);
/** @param {string | null} why */
const because = (why) => (why ? `（${why.trim().replace(/[.。]+$/, "")}）` : "");
/** Recovery's reason in words, a person's as it was given. @param {{reason: string, reason_sentences: import("../../sentences.js").Sentence[] | null}} facts */
const reasonOf = ({ reason, reason_sentences: coded }) => (coded && inWords(coded)) || reason;
/** @param {number} n */
const displays = (n) => `${number(n)}台`;
/** @param {number} n @param {number} all */
const someOf = (n, all) => `${displays(all)}中${displays(n)}`;

// --- recovery ---

/** @type {Record<string, string>} */
const SCREEN_IS = {
  black: "画面が黒くなっています",
  frozen: "画面がフリーズしています",
  disconnected: "画面が接続されていません",
  off: "画面が消えています",
};

/** @param {string | null} screen */
const screenIs = (screen) => (screen === null ? "画面が異常です" : word(SCREEN_IS, screen));

/** @type {Record<string, string>} */
const WRONG = {
  crashed: "プレーヤーがクラッシュし、それを伝えるハートビートは最新です",
  service_failed: "サービスに障害がありますが、ディスプレイからの通信は届いています",
  stale: "ディスプレイの応答がありませんが、ブローカーは切断を伝えていません",
};

/** The evidence, without a full stop. @param {{basis: string, screen: string | null}} facts */
const wrong = ({ basis, screen }) =>
  basis === "screen_failed" ? `${screenIs(screen)}が、ディスプレイからの通信は届いています` : word(WRONG, basis);

/** @type {Record<string, string>} */
const GONE = { crashed: "プレーヤーがクラッシュしました", service_failed: "サービスに障害があります" };
const A_PERSON = "人が対応して自動復旧を再開するまで、何も送りません。";

/** @param {{restarts: number, reboots: number}} facts */
function tried({ restarts, reboots }) {
  const parts = [restarts && `プレーヤー再起動${number(restarts)}回`, reboots && `再起動${number(reboots)}回`];
  return parts.filter(Boolean).join("、");
}

/** @param {{restarts: number, reboots: number}} facts */
const triedOrNothing = (facts) => tried(facts) || "これまでの対応";

/** @param {{restarts: number, reboots: number, reason: string | null, elsewhere: boolean}} facts */
function refused(facts) {
  const { reason, elsewhere } = facts;
  const other = elsewhere && "最後に保存されたハートビートとは別の起動";
  const why = [reason, other].filter(Boolean).join("、") || "理由なし";
  return `ディスプレイが${tried(facts)}を拒否しました${reason === null ? "" : `（${why}）`}`;
}

/** Why a message was put aside. @type {Record<string, string>} */
const PUT_ASIDE = {
  unknown_topic: "不明なトピックへの送信",
  bad_uuid: "誤った UUID での送信",
  too_large: "サイズ超過",
  not_utf8: "UTF-8 以外",
  not_json: "JSON 以外",
  not_an_object: "JSON オブジェクト以外",
  too_deep: "深すぎる入れ子",
  bad_number: "範囲外の数値",
  bad_field: "不正なフィールド",
  unsupported_version: "未対応のバージョン",
  unknown_client: "未登録のときの送信",
  refused_by_database: "このサーバーの不具合による消失",
};

/** @param {string} reason */
const putAside = (reason) => PUT_ASIDE[reason] ?? "その他の理由";

/** What was refused. @type {Record<string, string>} */
const KINDS = {
  heartbeat: "ハートビート",
  health: "状態の報告",
  logs: "ログ",
  service_failed: "サービス障害",
  presence: "ブローカーのセッションのメッセージ",
  acks: "コマンドへの応答",
};

/** @param {{refused: Record<string, number>}} facts */
function heartbeatsMissing({ refused: refusals }) {
  const parts = byCount(refusals).map(([reason, n]) => `${putAside(reason)} ${number(n)}件`);
  const why = parts.length
    ? `拒否の理由: ${parts.join("、")}。`
    : "ブローカーが送信を許可しているか、ディスプレイが送っているかを確認してください。";
  return `メッセージは届きますが、ハートビートが届きません。${why}`;
}

/** @type {import("../../sentence_facts.js").SentenceWords} */
export const sentenceWords = {
  recovery_off: () => "設定 CRASH_RECOVERY_ENABLED により、自動復旧はオフです。",
  bridge_silent: () => "ブリッジが応答しないため、表示は古い可能性があります。応答が戻るまで、何も送りません。",
  command_open: ({ action }) => `コマンドを実行中です（${asked(action)}）。次の対応は結果で決まります。`,
  command_of_another: ({ action, by, seconds }) =>
    `${didIt(by)}${lasting(seconds)}前に要求したコマンド（${asked(action)}）の結果がまだありません。結果が出るか、時間が過ぎるか、管理者が終えるまで、自動復旧は待ちます。`,
  nothing_helped: (facts) => {
    const began = facts.seconds === null ? "" : `（最初の試行は${lasting(facts.seconds)}前）`;
    return `${triedOrNothing(facts)}は効果がありませんでした${began}。${A_PERSON}`;
  },
  all_refused: (facts) => `${refused(facts)}。${A_PERSON}`,
  two_devices: ({ seconds }) =>
    `2台の機器が同じログインを使っています（最後に見えたのは${lasting(seconds)}前）。どちらにもコマンドが届きえます。一方に新しいコードを渡してください。`,
  shut_down_on_purpose: () =>
    "ディスプレイは意図的にシャットダウンされました。次のハートビートまで、そのままにします。",
  stopped_on_purpose: () => "プレーヤーは意図的に止められました。そのままにします。",
  no_heartbeat_yet: () => "ディスプレイのハートビートがまだなく、判断できません。",
  reports_come_again: () =>
    "ブリッジの応答が戻ってから、メッセージは届いています。自動復旧はハートビートを待っています。",
  not_heard_since: () =>
    "ブリッジの応答が戻ってから、ディスプレイからの通信が届いていません。無応答の時間はそこから数えます。",
  failure_not_repeated: ({ unit }) =>
    `サービス ${unit} に障害がありましたが、その後ディスプレイは報告していません。問題がなければ、障害を確認してください。`,
  screen_disconnected: ({ screen }) =>
    `${screenIs(screen)}。コマンドでは直りません。ケーブルと電源を現地で確認してください。`,
  screen_off: ({ screen }) =>
    `${screenIs(screen)}が、予定にありません。コマンドは送りません。画面を点けるか、消す時間を予定に入れてください。`,
  screen_unproven: ({ screen }) => `${screenIs(screen)}。自動復旧は、新しい報告が2回届くまで何も送りません。`,
  heard_again: () => "ディスプレイからの通信が再び届きました。このまま正常かどうかは、まだ分かりません。",
  heartbeats_missing: heartbeatsMissing,
  silent_and_gone: () => "ディスプレイは応答がなく、接続もしていません。何も送れません。",
  not_connected: ({ basis, screen }) =>
    `${GONE[basis] ?? screenIs(screen)}。ただしディスプレイが接続していないため、自動復旧は次のハートビートの後にやり直します。`,
  silent_too_long: () =>
    "ディスプレイは1日を超えて応答がありません。再起動では直らないため、自動復旧は何も送りません。人が見る必要があります。",
  command_done: ({ action }) =>
    `自動復旧のコマンド（${asked(action)}）が実行されました。効果は、クールダウンの終わりに判断します。`,
  asked_again_later: (facts) => `${refused(facts)}。クールダウンの終わりに、もう一度要求します。`,
  sent_lately: () => "最近、再起動を送信しました。次を送る前に、ディスプレイが戻るのを待っています。",
  cannot_do: (facts) => `${wrong(facts)}。ただし、このディスプレイは${asked(facts.action)}に対応していません。`,
  watchdog_first: () => "プレーヤーがクラッシュしたばかりです。まずディスプレイ自身の監視役に任せます。",
  other_screens_first: ({ screen }) =>
    `${wrong({ basis: "screen_failed", screen })}。ほかにも多くの画面が異常になるか、自動復旧は様子を見ています。`,
  others_first: () =>
    "ディスプレイの応答がなくなったばかりです。ほかにも多くが応答しなくなるか、自動復旧は様子を見ています。",
  shop_just_opened: () =>
    "営業時間が始まったばかりで、その前から応答がありません。自動復旧は起動する時間を与えています。",
  first_heartbeat_awaited: () =>
    "ディスプレイがオンラインになったばかりです。自動復旧は最初のハートビートを待っています。",
  many_late: ({ late, seen }) =>
    `${someOf(late, seen)}が遅延しているか応答していません。ほかも応答しなくなるか、自動復旧は様子を見ています。`,
  command_due: (facts) => `${wrong(facts)}。空きのある次の実行で、${asked(facts.action)}を送ります。`,
  no_help_so_far: (facts) => `${triedOrNothing(facts)}は、まだ効果がありません。`,
  refused_before: (facts) => `${refused(facts)}。`,
  command_sent: (facts) =>
    `${wrong(facts)}。${asked(facts.action)}を送りました。${number(facts.attempts)}回中${number(facts.attempt)}回目です。`,
  no_help: (facts) => `${triedOrNothing(facts)}は効果がありませんでした。`,
  part_of_incident: () => "インシデントの一部です。",

  messages_refused: ({ kind, reason, count }) =>
    `${KINDS[kind] ?? "メッセージ"} ${number(count)}件を拒否: ${putAside(reason)}`,

  // --- messages to people ---
  receiver_took: ({ receiver }) => `${receiver} が受け付けました`,
  receiver_answered: ({ receiver, status }) => `${receiver} の応答: ${status}`,
  receiver_gone: ({ receiver, status }) => `${receiver} の応答: ${status}。このアドレスはもうありません`,
  receiver_redirects: ({ receiver, status }) => `${receiver} の応答: ${status}。リダイレクトには従いません`,
  receiver_forbidden: () => "ここからこのアドレスには通知できません。機器自身のアドレスか、プライベートアドレスです。",
  receiver_misspelt: ({ receiver }) => `${receiver} で使えるアドレスではありません`,
  receiver_unknown: ({ receiver }) => `${receiver} という名前が見つかりません`,
  receivers_server_unknown: ({ receiver }) => `${receiver} のサーバー名が見つかりません`,
  receiver_untrusted: ({ receiver }) => `${receiver} の証明書を信頼できません`,
  receiver_without_tls: ({ receiver }) => `${receiver} と TLS で通信できません`,
  receiver_without_tls_or_trust: ({ receiver }) => `${receiver} と TLS で通信できないか、証明書を信頼できません`,
  receiver_without_http: ({ receiver }) => `${receiver} の応答が HTTP ではありません`,
  receiver_slow: ({ receiver }) => `${receiver} が時間内に応答しませんでした`,
  receiver_refused_connection: ({ receiver }) => `${receiver} が接続を拒否しました`,
  receiver_lost: ({ receiver }) => `${receiver} への接続が切れました`,
  proxy_refused: ({ receiver, status }) => `${receiver} への接続にプロキシ（OUTBOUND_PROXY）が ${status} を返しました`,
  proxy_silent: ({ receiver }) => `${receiver} への接続にプロキシ（OUTBOUND_PROXY）が応答しません`,
  receiver_did_not_take: ({ receiver }) => `${receiver} がメッセージを受け付けませんでした`,
  channel_switched_off: () => "チャンネルがオフでした",
  over_before_sent: () => "送信前に解消しました",
  given_up: ({ tries }) => `（1日の間に${number(tries)}回試行して断念）`,
};

/** These sentences one after the other; null when one of them is not known here. @param {readonly import("../../sentences.js").Sentence[]} sentences */
export const inWords = (sentences) => joined(sentenceWords, sentences, "");
