import { count } from "../../format.js";
import { joined } from "../../sentence_facts.js";

/** @type {import("../../sentence_facts.js").SentenceWords} */
export const sentenceWords = {

  // --- messages to people ---
};

/** These sentences one after the other; null when one of them is not known here. @param {readonly import("../../sentences.js").Sentence[]} sentences */
export const inWords = (sentences) => joined(sentenceWords, sentences, " ");
