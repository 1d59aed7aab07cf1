import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Element, ElementContent, Root, RootContent } from "hast";

/** Addresses of pictures in Markdown. The dark theme's picture is beside it, as `…-dark.webp`. */
const address = /^\/docs\/pictures\/[a-z-]+-light\.webp$/;

/**
 * Replaces each paragraph that is only such a picture by the pictures of both themes, of which styles show one (browsers
 * don't load the other, as it is lazy). Each has its size, so that the layout doesn't shift, and links to itself,
 * because its text is small on a phone. Returns the files.
 *
 * @throws Error for a picture without an alternative text, or whose file is missing or not a lossy WebP
 */
export async function showPictures(tree: Root, publicDirectory: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const [index, node] of tree.children.entries()) {
    const image = onlyPicture(node);
    if (!image) continue;
    const [source, alt] = [String(image.properties.src), String(image.properties.alt ?? "")];
    if (alt === "") throw new Error(`The picture ${source} has no alternative text.`);
    const links: Element[] = [];
    for (const theme of ["light", "dark"] as const) {
      const path = source.replace("-light.", `-${theme}.`);
      const file = join(publicDirectory, path);
      files.push(file);
      links.push(pictureOf(path, await readFile(file), alt, theme));
    }
    tree.children[index] = element("figure", { className: ["picture"] }, links);
  }
  return files;
}

function onlyPicture(node: RootContent): Element | null {
  if (node.type !== "element" || node.tagName !== "p" || node.children.length !== 1) return null;
  const [child] = node.children;
  return child?.type === "element" && child.tagName === "img" && address.test(String(child.properties.src))
    ? child
    : null;
}

function pictureOf(path: string, content: Buffer, alt: string, theme: "light" | "dark"): Element {
  // A new picture has a new address, because browsers cache files without revalidation.
  const src = `${path}?v=${createHash("sha256").update(content).digest("hex").slice(0, 8)}`;
  const image = element("img", { src, alt, ...sizeOf(path, content), loading: "lazy", decoding: "async" }, []);
  return element("a", { href: src, className: [`in-${theme}`] }, [image]);
}

/**
 * Size of a lossy WebP in pixels, from its frame's header (RFC 6386, section 9.1), which comes first or after `VP8X`.
 */
function sizeOf(path: string, content: Buffer): { readonly width: number; readonly height: number } {
  const start = content.indexOf(Buffer.from([0x9d, 0x01, 0x2a]));
  if (content.toString("latin1", 8, 12) !== "WEBP" || start < 0) throw new Error(`${path} is no lossy WebP.`);
  return { width: content.readUInt16LE(start + 3) & 0x3fff, height: content.readUInt16LE(start + 5) & 0x3fff };
}

const element = (tagName: string, properties: Element["properties"], children: ElementContent[]): Element => ({
  type: "element",
  tagName,
  properties,
  children,
});
