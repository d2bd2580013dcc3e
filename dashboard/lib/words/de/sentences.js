import { count } from "../../format.js";
import { joined } from "../../sentence_facts.js";

/** @type {import("../../sentence_facts.js").SentenceWords} */
export const sentenceWords = {

  // --- messages to people ---
  receiver_took: ({ receiver }) => `Angenommen von ${receiver}`,
  receiver_answered: ({ receiver, status }) => `${status} von ${receiver}`,
  receiver_gone: ({ receiver, status }) =>
    `${status} von ${receiver}: Der Empfänger meldet, dass es diese Adresse nicht mehr gibt`,
  receiver_redirects: ({ receiver, status }) =>
    `${status} von ${receiver}: eine Weiterleitung, und Weiterleitungen wird nicht gefolgt`,
  receiver_forbidden: () =>
    "An diese Adresse darf von hier nicht gesendet werden: Sie führt auf einen Rechner selbst oder in ein privates Netz.",
  receiver_misspelt: ({ receiver }) => `Diese Adresse passt nicht zu ${receiver}`,
  receiver_unknown: ({ receiver }) => `Der Name ${receiver} ist nicht bekannt`,
  receivers_server_unknown: ({ receiver }) => `Der Name des Servers von ${receiver} ist nicht bekannt`,
  receiver_untrusted: ({ receiver }) => `Dem Zertifikat von ${receiver} wird nicht vertraut`,
  receiver_without_tls: ({ receiver }) => `${receiver} spricht kein TLS, wie es erwartet wird`,
  receiver_without_tls_or_trust: ({ receiver }) =>
    `${receiver} spricht kein TLS, wie es erwartet wird, oder dem Zertifikat wird nicht vertraut`,
  receiver_without_http: ({ receiver }) => `${receiver} antwortet nicht mit HTTP`,
  receiver_slow: ({ receiver }) => `${receiver} hat nicht rechtzeitig geantwortet`,
  receiver_refused_connection: ({ receiver }) => `${receiver} lehnt die Verbindung ab`,
  receiver_lost: ({ receiver }) => `Die Verbindung zu ${receiver} ist abgebrochen`,
  proxy_refused: ({ receiver, status }) =>
    `Der Proxy (OUTBOUND_PROXY) antwortet ${status} auf die Frage nach ${receiver}`,
  proxy_silent: ({ receiver }) => `Der Proxy (OUTBOUND_PROXY) antwortet nicht auf die Frage nach ${receiver}`,
  receiver_did_not_take: ({ receiver }) => `${receiver} hat die Nachricht nicht angenommen`,
  channel_switched_off: () => "Der Kanal war ausgeschaltet",
  over_before_sent: () => "Es war vorbei, bevor es gesendet wurde",
  given_up: ({ tries }) => `(aufgegeben nach einem Tag und ${count(tries, "Versuch", "Versuchen")})`,
};

/** These sentences one after the other; null when one of them is not known here. @param {readonly import("../../sentences.js").Sentence[]} sentences */
export const inWords = (sentences) => joined(sentenceWords, sentences, " ");
