import { raw } from "hono/html";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import type { Html } from "./layout.ts";

/** A comment of HTML at the start, by which an App finds its own text again. */
const hiddenMark = /^<!--[\s\S]*?-->\s*/;

/** GitHub's Markdown as HTML. Tags in it are shown as text, and links lead to http, https and mail only. */
export function markdown(text: string): Html {
  const html = micromark(text.replace(hiddenMark, ""), { extensions: [gfm()], htmlExtensions: [gfmHtml()] });
  return raw(`<div class="markdown">${html}</div>`);
}
