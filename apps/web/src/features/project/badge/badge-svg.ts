import type { BadgeState } from "@towpath/core/projects/registry";

const looks: Readonly<Record<BadgeState | "unknown", readonly [text: string, color: string]>> = {
  live: ["live", "#0f766e"],
  asleep: ["asleep", "#57606a"],
  failing: ["failing", "#b42318"],
  "not-live": ["not live yet", "#57606a"],
  unknown: ["unknown", "#57606a"],
};

/** Width of a character at 11 px; `textLength` scales any font to it. */
const characterWidth = 6.6;
const padding = 8;

/** A badge as SVG, 20 px high, without scripts, styles or anything to load. `null`: for names that are not public. */
export function badgeSvg(server: { readonly name: string; readonly state: BadgeState } | null): string {
  const [text, color] = looks[server?.state ?? "unknown"];
  const label = server?.name ?? "MCP server";
  const [labelWidth, textWidth] = [label, text].map((part) => Math.round(part.length * characterWidth));
  const left = (labelWidth ?? 0) + 2 * padding;
  const right = (textWidth ?? 0) + 2 * padding;
  const width = left + right;
  const part = (content: string, x: number, length = 0) =>
    `<text x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escaped(content)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img" aria-label="${escaped(`${label}: ${text}`)}">` +
    `<title>${escaped(`${label}: ${text}`)}</title>` +
    `<clipPath id="r"><rect width="${width}" height="20" rx="4"/></clipPath>` +
    `<g clip-path="url(#r)"><rect width="${left}" height="20" fill="#24292f"/><rect x="${left}" width="${right}" height="20" fill="${color}"/></g>` +
    `<g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">` +
    `${part(label, padding, labelWidth)}${part(text, left + padding, textWidth)}</g></svg>`
  );
}

/** Names have letters, digits and hyphens only; a later rule must not break out. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
