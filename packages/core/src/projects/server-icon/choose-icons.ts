import type { ServerIcon } from "@towpath/mcp/manifest";

/** The size that pages show best, in pixels: twice the largest tile. */
const bestSize = 96;
const maxTried = 3;

const rasterTypes: ReadonlySet<string> = new Set(["image/png", "image/webp", "image/jpeg", "image/jpg"]);

/** The type that an icon is declared to have, by its URI if it doesn't say; null: unknown. */
function declaredType({ src, mimeType }: ServerIcon): string | null {
  if (src.startsWith("data:")) return /^data:([^;,]*)/.exec(src)?.[1]?.toLowerCase() ?? null;
  if (mimeType !== undefined) return mimeType.toLowerCase();
  const ending = /\.(png|webp|jpe?g|svg|gif|ico)(?:[?#]|$)/i.exec(src)?.[1]?.toLowerCase();
  return ending === undefined ? null : ending === "svg" ? "image/svg+xml" : `image/${ending}`;
}

/** Width of the largest size that it is declared to have; null: unknown. */
function declaredSize({ sizes = [] }: ServerIcon): number | null {
  const widths = sizes.flatMap((size) => Number(/^(\d{1,5})x\d{1,5}$/i.exec(size)?.[1] ?? Number.NaN));
  return widths.some(Number.isFinite) ? Math.max(...widths.filter(Number.isFinite)) : null;
}

/** Lower is better: large enough, then as small as possible; unknown sizes between. */
function rank(icon: ServerIcon): number {
  const size = declaredSize(icon);
  const bySize = size === null ? 1000 : size >= bestSize ? size - bestSize : 2000 - size;
  return bySize + (icon.theme === "dark" ? 10_000 : 0);
}

/**
 * The URIs that are worth reading, best first: `data:` and `https:`, of raster images as far as they say. SVG images can
 * run scripts and load others, and icons for dark pages are last, as one icon serves both themes.
 */
export function chooseIcons(icons: readonly ServerIcon[]): readonly string[] {
  return icons
    .filter(({ src }) => src.startsWith("data:") || src.startsWith("https://"))
    .filter((icon) => {
      const type = declaredType(icon);
      return type === null || rasterTypes.has(type);
    })
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, maxTried)
    .map(({ src }) => src);
}
