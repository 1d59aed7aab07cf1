import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import type { IconShape } from "../src/ui/icon.tsx";

type IconModule = { readonly __iconData?: { readonly node: readonly IconShape[] } };

const factory = join(import.meta.dirname, "../src/ui/icon.tsx");
const leadingMove = /^m\s*(-?(?:\d+\.?\d*|\.\d+))[\s,]*(-?(?:\d+\.?\d*|\.\d+))\s*(.*)$/s;

/** A path that may follow another's: its first move is from the origin, and lines right after it stay relative. */
function fromOrigin(path: string): string {
  const [, x, y, rest = ""] = leadingMove.exec(path) ?? [];
  return x === undefined ? path : `M${x} ${y}${/^[-\d.]/.test(rest) ? "l" : ""}${rest}`;
}

/** The module of an icon with these shapes, whose plain paths become one. */
export function lightIcon(node: readonly IconShape[]): string {
  const shapes = node.map(([tag, { key: _key, ...attributes }]) => [tag, attributes] as const);
  const isPlain = ([tag, attributes]: IconShape) => tag === "path" && Object.keys(attributes).join() === "d";
  const path = shapes
    .filter(isPlain)
    .map(([, { d = "" }]) => fromOrigin(d))
    .join("");
  const others = shapes.filter((shape) => !isPlain(shape));
  const values = others.length > 0 ? [path, others] : [path];
  const call = `icon(${values.map((value) => JSON.stringify(value)).join(", ")})`;
  return `import { icon } from ${JSON.stringify(factory)};\nexport default /* @__PURE__ */ ${call};\n`;
}

/** Lucide's drawings in a component of our own (`ui/icon.tsx`), in half of the bytes. On both sides of the hydration. */
export const lightIcons = (): Plugin => ({
  name: "light-icons",
  apply: "build",
  enforce: "pre",
  load: {
    filter: { id: /\/lucide-react\/dist\/esm\/icons\/[\w-]+\.mjs$/ },
    async handler(id) {
      const { __iconData: data }: IconModule = await import(pathToFileURL(id).href);
      // Without: the old name of another.
      return data ? { code: lightIcon(data.node), map: null } : null;
    },
  },
});
