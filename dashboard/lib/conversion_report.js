/** What the report of a conversion warns of, and why a conversion failed. */
import { listed } from "./lists.js";
import { conversionWords } from "./words/conversions.js";

/** @typedef {Record<string, any>} Warning of the service's JSON */

/** Where something is: on which slides. @param {Warning} of */
const there = ({ count, slides }) => ({ n: count, slides: listed(slides), slides_n: slides.length });

/** @param {Warning} of @param {string[]} kinds each with its number in the report */
function lost(of, kinds) {
  const parts = kinds.flatMap((kind) => (of[kind] ? (conversionWords.lost[kind]?.({ n: of[kind] }) ?? []) : []));
  return conversionWords.warning.lost({ parts: listed(parts) });
}

/** By the code. @type {Record<string, (of: Warning) => string>} */
const WARNINGS = {
  pages_differ: (of) => conversionWords.warning.pages_differ({ slides_n: of["slides"], pages_n: of["pages"] }),
  hidden_slides: (of) => conversionWords.warning.hidden_slides({ n: of["slides"] }),
  fonts_substituted: ({ fonts, same_widths = {} }) =>
    Object.keys(same_widths).length === fonts.length
      ? conversionWords.warning.fonts_alike({ n: fonts.length })
      : conversionWords.warning.fonts_substituted({ n: fonts.length }),
  fonts_not_known: ({ fonts }) =>
    fonts.length ? conversionWords.warning.fonts_perhaps_missing : conversionWords.warning.fonts_not_known,
  formulas_lost: (of) => conversionWords.warning.formulas_lost(there(of)),
  charts_not_drawn: (of) => conversionWords.warning.charts_not_drawn(there(of)),
  pictures_missing: (of) => conversionWords.warning.pictures_missing(there(of)),
  pages_blank: (of) => conversionWords.warning.pages_blank(there(of)),
  text_cut: (of) => conversionWords.warning.text_cut(there(of)),
  dates_stand_still: (of) => conversionWords.warning.dates_stand_still(there(of)),
  chosen_slides_ignored: () => conversionWords.warning.chosen_slides_ignored,
  pages_not_read: (of) => conversionWords.warning.pages_not_read({ n: of["pages"] }),
  contents_not_known: () => conversionWords.warning.contents_not_known,
  motion_lost: (of) => lost(of, ["videos", "audios", "animated_slides"]),
  letters_missing: ({ count, letters, signs = [] }) =>
    conversionWords.warning.letters_missing({ n: count, letters: listed([letters, ...signs].filter(Boolean)) }),
  timing_lost: (of) => lost(of, ["transitions", "advancing"]),
  workbooks_not_asked: (of) => conversionWords.warning.workbooks_not_asked({ n: of["count"] }),
  links_not_followed: (of) => conversionWords.warning.links_not_followed({ n: of["count"] }),
  hyperlinks: (of) => conversionWords.warning.hyperlinks({ n: of["count"] }),
};

/** A warning in words; of a code that only a newer service knows the code. @param {Warning} of */
export const warningOf = (of) => WARNINGS[of["code"]]?.(of) ?? String(of["code"]);

/**
 * Why a conversion failed. The service's own text stays for a code that only a newer service knows.
 * @param {Pick<import("./types").Conversion, "error_code" | "error_message">} conversion
 */
export function faultOf({ error_code, error_message }) {
  const told = error_message ?? "";
  const seconds = told.match(/\d+/)?.[0];
  if (error_code === "took_too_long" && seconds) return conversionWords.tookTooLong({ n: Number(seconds) });
  return conversionWords.fault[error_code ?? ""] ?? told;
}
