import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import type { Element, ElementContent, Root, RootContent } from "hast";
import rehypeSlug from "rehype-slug";
import rehypeStringify from "rehype-stringify";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { VFile } from "vfile";
import { matter } from "vfile-matter";
import type { Plugin } from "vite";
import type { ZodType } from "zod";
import { lowlight } from "../src/ui/highlight.ts";
import type { MarkdownPage } from "../src/ui/markdown-page.ts";
import { showPictures } from "./pictures.ts";

type Options = {
  /** Directories of pages, with the schema of their front matter. */
  readonly collections: readonly Collection[];
  /** Directory of files that the site serves as they are: pictures are in it. */
  readonly publicDirectory: string;
};

type Collection = {
  readonly directory: string;
  readonly frontMatter: ZodType;
  /** Where a relative link leads on the site, by the title of its page; null: nowhere, and only its text stays. */
  readonly linkTo?: LinkTo;
};

type LinkTo = (href: string) => { readonly href: string; readonly title: string } | null;

/**
 * Compiles every Markdown file in the given directories to a module whose default export is a `MarkdownPage`. Invalid
 * front matter fails the build. Code is highlighted here, so that pages need no script for it.
 */
export function markdown({ collections, publicDirectory }: Options): Plugin {
  return {
    name: "markdown",
    async transform(source, id) {
      const file = id.split("?", 1)[0] ?? id;
      const collection = collections.find(({ directory }) => file.endsWith(".md") && dirname(file) === directory);
      if (!collection) return null;
      const page = await compileMarkdown(source, file, { ...collection, publicDirectory });
      for (const figure of page.figures) this.addWatchFile(figure);
      return { code: `export default ${JSON.stringify(page.page)}`, map: null };
    },
  };
}

type Compiling = Collection & Pick<Options, "publicDirectory">;

/** @throws Error that names the file, for front matter that doesn't fit the schema and for a figure that is missing */
async function compileMarkdown(source: string, path: string, { frontMatter, linkTo, publicDirectory }: Compiling) {
  const file = new VFile({ path, value: source });
  matter(file, { strip: true });
  const parsed = frontMatter.safeParse(file.data.matter);
  if (!parsed.success) throw new Error(`${relative(process.cwd(), path)}: ${parsed.error.message}`);
  const headings: MarkdownPage<unknown>["headings"][number][] = [];
  const sections: MarkdownPage<unknown>["sections"][number][] = [];
  const figures: string[] = [];
  const html = await unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkRehype)
    .use(rehypeSlug)
    .use(() => (tree: Root) => void (linkTo && rewriteLinks(tree, linkTo)))
    .use(() => (tree: Root) => {
      headings.push(...headingsOf(tree));
      sections.push(...sectionsOf(tree));
      tree.children = tree.children.filter((node) => !(isElement(node) && node.tagName === "h1"));
      linkHeadings(tree);
    })
    .use(() => (tree: Root) => reachableTables(tree))
    .use(() => async (tree: Root) => void figures.push(...(await inlineFigures(tree, path))))
    .use(() => async (tree: Root) => void figures.push(...(await showPictures(tree, publicDirectory))))
    .use(() => (tree: Root) => highlightCode(tree))
    .use(() => (tree: Root) => copyableCode(tree))
    // The only raw nodes are our own figures: HTML in Markdown has been dropped by remark-rehype.
    .use(rehypeStringify, { allowDangerousHtml: true })
    .process(file);
  const minutes = Math.max(1, Math.round(source.split(/\s+/).length / 220));
  const page: MarkdownPage<unknown> = { frontMatter: parsed.data, html: String(html), headings, sections, minutes };
  return { page, figures };
}

function headingsOf(tree: Root) {
  return tree.children.filter(isElement).flatMap(({ tagName, properties, children }) => {
    const depth = /^h([23])$/.exec(tagName)?.[1];
    return depth ? [{ depth: Number(depth), id: String(properties.id), text: textOf(children) }] : [];
  });
}

/** The text of each section with a heading, for searches. The first one is the text before them. */
function sectionsOf(tree: Root): MarkdownPage<unknown>["sections"][number][] {
  const sections = [{ id: "", heading: "", text: "" }];
  for (const node of tree.children.filter(isElement)) {
    const text = textOf(node.children).replaceAll(/\s+/g, " ").trim();
    if (/^h[23]$/.test(node.tagName)) sections.push({ id: String(node.properties.id), heading: text, text: "" });
    else if (node.tagName !== "h1") (sections.at(-1) as { text: string }).text += ` ${text}`;
  }
  return sections.map((section) => ({ ...section, text: section.text.trim() }));
}

/** Makes headings links to themselves, so that their address can be copied. */
function linkHeadings(tree: Root): void {
  for (const node of tree.children) {
    if (!isElement(node) || !/^h[23]$/.test(node.tagName)) continue;
    const link: Element = { type: "element", tagName: "a", properties: {}, children: node.children };
    link.properties = { href: `#${String(node.properties.id)}`, className: ["anchor"] };
    // A link in a link is none.
    if (!node.children.some((child) => isElement(child) && child.tagName === "a")) node.children = [link];
  }
}

/** Highlights code in known languages. Scrollable blocks must be reachable by keyboard (WCAG 2.1.1). */
function highlightCode(tree: Root): void {
  for (const pre of elementsOf(tree, "pre")) {
    pre.properties.tabIndex = 0;
    for (const code of elementsOf(pre, "code")) {
      const language = /language-(\w+)/.exec(String(code.properties.className))?.[1] ?? "";
      // A command that is copied with a line end would run as soon as it is pasted.
      const text = textOf(code.children).trimEnd();
      code.children = lowlight.registered(language)
        ? (lowlight.highlight(language, text).children as ElementContent[])
        : [{ type: "text", value: text }];
    }
  }
}

/** Gives each block of code a button that copies it: the site's script does it (`data-copies`). */
function copyableCode(tree: Root): void {
  let count = 0;
  for (const [index, node] of tree.children.entries()) {
    if (!isElement(node) || node.tagName !== "pre") continue;
    const id = `code-${++count}`;
    node.properties.id = id;
    const properties = { type: "button", className: ["copy"], "data-copies": id, title: "Copy", ariaLabel: "Copy" };
    const button: Element = { type: "element", tagName: "button", properties, children: [] };
    tree.children[index] = {
      type: "element",
      tagName: "div",
      properties: { className: ["code"] },
      children: [node, button],
    } as Element;
  }
}

function rewriteLinks(node: Root | Element, linkTo: LinkTo): void {
  node.children = (node.children as ElementContent[]).flatMap((child): ElementContent[] => {
    if (!isElement(child)) return [child];
    rewriteLinks(child, linkTo);
    const href = child.tagName === "a" ? String(child.properties.href) : "#";
    if (/^(?:[a-z]+:|[/#])/.test(href)) return [child];
    const target = linkTo(href);
    if (target === null) return child.children;
    child.properties.href = target.href;
    // Names of files mean nothing on the site.
    if (textOf(child.children).endsWith(".md")) child.children = [{ type: "text", value: target.title }];
    return [child];
  });
}

/**
 * A table may be wider than a phone, and a scrollable one must be reachable by keyboard (WCAG 2.1.1). Headers without
 * text become plain cells.
 */
function reachableTables(tree: Root): void {
  for (const node of tree.children) {
    if (!isElement(node) || node.tagName !== "table") continue;
    node.properties.tabIndex = 0;
    for (const header of elementsOf(node, "th")) if (header.children.length === 0) header.tagName = "td";
  }
}

const elementsOf = (node: Root | Element, tagName: string): readonly Element[] =>
  (node.children as readonly RootContent[])
    .filter(isElement)
    .flatMap((child) => [...(child.tagName === tagName ? [child] : []), ...elementsOf(child, tagName)]);

/** Replaces each paragraph that is only an image of an SVG file by that drawing, so that it follows the theme. */
async function inlineFigures(tree: Root, path: string): Promise<readonly string[]> {
  const figures: string[] = [];
  for (const [index, node] of tree.children.entries()) {
    const image = onlyImage(node);
    if (!image) continue;
    const file = resolve(dirname(path), String(image.properties.src));
    figures.push(file);
    tree.children[index] = await figureOf(file, String(image.properties.alt ?? ""));
  }
  return figures;
}

function onlyImage(node: RootContent): Element | null {
  if (!isElement(node) || node.tagName !== "p" || node.children.length !== 1) return null;
  const [child] = node.children;
  return child && isElement(child) && String(child.properties.src).endsWith(".svg") ? child : null;
}

async function figureOf(file: string, caption: string): Promise<Element> {
  const drawing = (await readFile(file, "utf8")).trim().replace("<svg ", '<svg aria-hidden="true" ');
  const element = (tagName: string, properties: Element["properties"], children: ElementContent[]): Element => ({
    type: "element",
    tagName,
    properties,
    children,
  });
  const raw = { type: "raw", value: drawing } as unknown as ElementContent;
  return element("figure", {}, [
    element("div", { role: "img", ariaLabel: caption, tabIndex: 0 }, [raw]),
    element("figcaption", {}, [{ type: "text", value: caption }]),
  ]);
}

const isElement = (node: RootContent | ElementContent): node is Element => node.type === "element";

const textOf = (nodes: readonly ElementContent[]): string =>
  nodes.map((node) => (node.type === "text" ? node.value : isElement(node) ? textOf(node.children) : "")).join("");
