import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Element, ElementContent, Root, RootContent } from "hast";

/**
 * Addresses of pictures in Markdown: on the site, or as files of the repository, from its `docs`. The dark theme's picture is
 * beside it, as `…-dark.webp`, and what a phone shows of it, if there is that, as `…-phone-light.webp`.
 */
const address = /^(?:\.\.\/apps\/web\/public)?(\/docs\/pictures\/[a-z-]+)-light\.webp$/;
/** Screens on which the other picture would be too small to read. */
const phone = "(max-width: 40rem)";

/**
 * Replaces each paragraph that is only such a picture by the pictures of both themes, of which styles show one (browsers
 * don't load the other, as it is lazy). Each has its size, so that the layout doesn't shift, and links to itself,
 * because its text is small on a phone. Returns the files.
 *
 * @throws Error for a picture without an alternative text, or whose file is missing or not a lossy WebP
 */
export async function showPictures(tree: Root, publicDirectory: string): Promise<readonly string[]> {
  const files: string[] = [];
  const read = async (path: string): Promise<Picture> => {
    const file = join(publicDirectory, path);
    files.push(file);
    return pictureOf(path, await readFile(file));
  };
  for (const [index, node] of tree.children.entries()) {
    const image = onlyPicture(node);
    if (!image) continue;
    const { name, alt } = image;
    if (alt === "") throw new Error(`The picture ${name} has no alternative text.`);
    const links: Element[] = [];
    for (const theme of ["light", "dark"] as const) {
      const whole = await read(`${name}-${theme}.webp`);
      const small = `${name}-phone-${theme}.webp`;
      const narrow = existsSync(join(publicDirectory, small)) ? await read(small) : null;
      links.push(linkTo(whole, { narrow, alt, theme }));
    }
    tree.children[index] = element("figure", { className: ["picture"] }, links);
  }
  return files;
}

function onlyPicture(node: RootContent): { readonly name: string; readonly alt: string } | null {
  if (node.type !== "element" || node.tagName !== "p" || node.children.length !== 1) return null;
  const [child] = node.children;
  if (child?.type !== "element" || child.tagName !== "img") return null;
  const name = address.exec(String(child.properties.src))?.[1];
  return name === undefined ? null : { name, alt: String(child.properties.alt ?? "") };
}

/** `src` has a hash: a new picture has a new address, because browsers cache files without revalidation. */
type Picture = { readonly src: string; readonly width: number; readonly height: number };

function pictureOf(path: string, content: Buffer): Picture {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 8);
  return { src: `${path}?v=${hash}`, ...sizeOf(path, content) };
}

type Shown = { readonly narrow: Picture | null; readonly alt: string; readonly theme: "light" | "dark" };

function linkTo(whole: Picture, { narrow, alt, theme }: Shown): Element {
  const image = element("img", { ...whole, alt, loading: "lazy", decoding: "async" }, []);
  const shown =
    narrow === null
      ? image
      : element("picture", {}, [
          element("source", { media: phone, srcSet: [narrow.src], width: narrow.width, height: narrow.height }, []),
          image,
        ]);
  return element("a", { href: whole.src, className: [`in-${theme}`] }, [shown]);
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
