import { createHash } from "node:crypto";
import type { CallResponse } from "../call/states.ts";

/** Inserted into a page unchanged: made by `html`, which escapes its arguments. */
export type Html = { readonly html: string };

type Part = string | Html | null | readonly Html[];

/** Markup with every text escaped, in elements and in quoted attributes. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: String.raw({ raw: texts }, ...parts.map(markupOf)) };
}

function markupOf(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string") return part.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
  return "html" in part ? part.html : part.map((each) => each.html).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

type Page = {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Omits the body, for HEAD. */
  readonly isHead?: boolean;
};

/** Sends one of the gateway's own pages: it loads nothing, can't be framed, and runs only our style and script. */
export function sendPage(response: CallResponse, { title, body, status = 200, headers, isHead = false }: Page): void {
  const page = Buffer.from(documentOf(title, body).html);
  const all = {
    ...headers,
    "content-type": "text/html; charset=utf-8",
    "content-length": String(page.length),
    "cache-control": "no-store",
    "content-security-policy": policy,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    // Not `no-referrer`, with which a form's Origin is `null`.
    "referrer-policy": "same-origin",
  };
  response.writeHead(status, Object.entries(all).flat());
  response.end(isHead ? undefined : page);
}

const style = `:root{color-scheme:light dark;--canvas:light-dark(#f9fbfb,#0c1214);--surface:light-dark(#fff,#12191c);--sunken:light-dark(#f1f5f5,#080d0f);--line:light-dark(#dfe5e6,#283135);--ink:light-dark(#152227,#e9eeee);--muted:light-dark(#4d5b60,#a5b1b4);--accent:light-dark(#0b5f66,#5cc8c2);--accent-ink:light-dark(#fbfefe,#06181b);--soft:light-dark(#e3f3f2,#15302f)}
*{box-sizing:border-box}
body{font:15px/1.55 ui-sans-serif,system-ui,sans-serif;margin:0;min-height:100vh;background:var(--canvas);color:var(--ink)}
header{border-bottom:1px solid var(--line);padding:0 1.25rem;height:4rem;display:flex;align-items:center}
header>*{width:100%;max-width:44rem;margin:0 auto}
.logo{display:flex;align-items:center;gap:.5rem;font-size:1.0625rem;font-weight:600;letter-spacing:-.035em;color:inherit;text-decoration:none}
.logo svg{width:1.5rem;height:1.5rem}
main{max-width:46.5rem;margin:0 auto;padding:2.5rem 1.25rem 4rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.02em;margin:0 0 .5rem}
h2{font-size:1rem;margin:2rem 0 .75rem}
p{margin:0 0 1rem}
a{color:var(--accent);text-underline-offset:3px}
.muted{color:var(--muted)}
.kind{display:inline-block;margin:0 0 .75rem;padding:.1rem .6rem;border-radius:1rem;background:var(--soft);color:var(--accent);font-size:.8125rem;font-weight:500}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.8125rem}
.copy{display:flex;align-items:flex-start;gap:.5rem;margin:0 0 1rem;padding:.3rem .3rem .3rem .85rem;background:var(--sunken);border:1px solid var(--line);border-radius:.5rem}
.copy pre{flex:1;min-width:0;margin:0;padding:.35rem 0;white-space:pre-wrap}
button,.button{display:inline-flex;align-items:center;min-height:2.25rem;padding:.3rem .9rem;font:inherit;font-weight:500;border:1px solid var(--line);border-radius:.4rem;background:var(--surface);color:var(--ink);text-decoration:none;cursor:pointer}
button:hover,.button:hover{border-color:var(--accent)}
.copy button{flex:none;min-height:2rem;font-size:.8125rem}
.primary{background:var(--accent);border-color:var(--accent);color:var(--accent-ink)}
.primary:hover{filter:brightness(1.08)}
.row{display:flex;flex-wrap:wrap;gap:.6rem;margin:0 0 1rem;padding:0;list-style:none}
.clients{border:1px solid var(--line);border-radius:.5rem;background:var(--surface)}
details+details{border-top:1px solid var(--line)}
summary{padding:.6rem 1rem;font-weight:500;cursor:pointer}
.guide{padding:.25rem 1rem .5rem}
.guide ol{margin:0 0 1rem;padding-left:1.25rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`;

/** Buttons that copy the text before them; hidden without scripts. */
const script = `if(navigator.clipboard)for(const button of document.querySelectorAll(".copy button")){button.hidden=false;button.addEventListener("click",()=>navigator.clipboard.writeText(button.previousElementSibling.textContent).then(()=>{button.textContent="Copied";setTimeout(()=>{button.textContent="Copy"},2000)},()=>{}))}`;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// No `form-action`: browsers apply it to the redirects that follow a form, which may lead to a client's own scheme.
const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; img-src data:; base-uri 'none'; frame-ancestors 'none'`;

const mark: Html = {
  html: '<svg viewBox="0 0 24 24" fill="none" aria-hidden="true"><rect width="24" height="24" rx="6" fill="var(--accent)"/><g stroke="var(--accent-ink)" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M6.5 5v14M17.5 5v14"/><path d="m6.5 12.2 5.5-3.7 5.5 3.7"/><path d="m6.5 18 5.5-3.7 5.5 3.7" opacity=".5"/></g></svg>',
};

// Inline: a browser would request another one from the server's own address, and wake the server.
const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none"><rect width="24" height="24" rx="6" fill="#0b6a70"/><g stroke="#f2fbfb" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M6.5 5v14M17.5 5v14"/><path d="m6.5 12.2 5.5-3.7 5.5 3.7"/></g></svg>')}`;

function documentOf(title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${{ html: style }}</style>
</head>
<body>
<header><div class="logo">${mark}towpath</div></header>
<main>
${body}
</main>
<script>${{ html: script }}</script>
</body>
</html>
`;
}
