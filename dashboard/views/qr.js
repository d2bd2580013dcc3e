/** A text as a QR code: dark on white in every colour scheme, because cameras want it so. */
import { useMemo } from "../vendor/hooks.js";
import { generate } from "../vendor/qr.js";
import { html } from "../lib/html.js";

const MARGIN = 4; // modules of quiet zone that the standard asks for

/** @param {{text: string, label: string}} props */
export function Qr({ text, label }) {
  const { size, path } = useMemo(() => {
    const code = generate(text);
    let drawn = "";
    for (let y = 0; y < code.size; y++)
      for (let x = 0; x < code.size; x++) if (code.get(x, y)) drawn += `M${x + MARGIN} ${y + MARGIN}h1v1h-1z`;
    return { size: code.size + 2 * MARGIN, path: drawn };
  }, [text]);
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label=${label}
    shape-rendering="crispEdges">
    <rect class="qr-ground" width=${size} height=${size} /><path class="qr-dark" d=${path} /></svg>`;
}
