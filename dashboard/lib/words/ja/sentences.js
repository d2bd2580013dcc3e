import { joined } from "../../sentence_facts.js";

/** @type {import("../../sentence_facts.js").SentenceWords} */
export const sentenceWords = {

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
