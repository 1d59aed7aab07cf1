import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import shiki from "@shikijs/rehype";
import type { Element, ElementContent, Root, RootContent } from "hast";
import rehypeSlug from "rehype-slug";
import rehypeStringify from "rehype-stringify";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { createCssVariablesTheme } from "shiki";
import { unified } from "unified";
import { VFile } from "vfile";
import { matter } from "vfile-matter";
import type { Plugin } from "vite";
import type { ZodType } from "zod";
import type { MarkdownPage } from "../src/ui/markdown-page.ts";

type Options = {
  /** Directory of the pages, and what their front matter must be. */
  readonly collections: readonly { readonly directory: string; readonly frontMatter: ZodType }[];
};

/**
 * Makes a module of every Markdown file in the given directories, whose default export is a `MarkdownPage`. Front matter
 * that doesn't fit its schema fails the build. Code is highlighted here, so that pages need no script for it.
 */
export function markdown({ collections }: Options): Plugin {
  return {
    name: "markdown",
    async transform(source, id) {
      const file = id.split("?", 1)[0] ?? id;
      const collection = collections.find(({ directory }) => file.endsWith(".md") && dirname(file) === directory);
      if (!collection) return null;
      const page = await compileMarkdown(source, file, collection.frontMatter);
      for (const figure of page.figures) this.addWatchFile(figure);
      return { code: `export default ${JSON.stringify(page.page)}`, map: null };
    },
  };
}

/** @throws Error that names the file, for front matter that doesn't fit the schema and for a figure that is missing */
async function compileMarkdown(source: string, path: string, frontMatter: ZodType) {
  const file = new VFile({ path, value: source });
  matter(file, { strip: true });
  const parsed = frontMatter.safeParse(file.data.matter);
  if (!parsed.success) throw new Error(`${relative(process.cwd(), path)}: ${parsed.error.message}`);
  const headings: MarkdownPage<unknown>["headings"][number][] = [];
  const figures: string[] = [];
  const html = await unified()
    .use(remarkParse)
    .use(remarkGfm)
    .use(remarkRehype)
    .use(rehypeSlug)
    .use(() => (tree: Root) => void headings.push(...headingsOf(tree)))
    .use(() => (tree: Root) => reachableTables(tree))
    .use(() => async (tree: Root) => void figures.push(...(await inlineFigures(tree, path))))
    .use(shiki, { theme: createCssVariablesTheme({ variablePrefix: "--code-" }), defaultLanguage: "text" })
    // The only raw nodes are our own figures: HTML in Markdown has been dropped by remark-rehype.
    .use(rehypeStringify, { allowDangerousHtml: true })
    .process(file);
  const minutes = Math.max(1, Math.round(source.split(/\s+/).length / 220));
  const page: MarkdownPage<unknown> = { frontMatter: parsed.data, html: String(html), headings, minutes };
  return { page, figures };
}

function headingsOf(tree: Root) {
  return tree.children.filter(isElement).flatMap(({ tagName, properties, children }) => {
    const depth = /^h([23])$/.exec(tagName)?.[1];
    return depth ? [{ depth: Number(depth), id: String(properties.id), text: textOf(children) }] : [];
  });
}

/** A table may be wider than a phone. What scrolls must be reachable by keyboard (WCAG 2.1.1). */
function reachableTables(tree: Root): void {
  for (const node of tree.children) if (isElement(node) && node.tagName === "table") node.properties.tabIndex = 0;
}

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
    ...{ type: "element", tagName, properties, children },
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
