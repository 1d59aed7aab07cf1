import { readFileSync } from "node:fs";
import { Hono } from "hono";
import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Account } from "../state/accounts.ts";

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

export type PageInput = {
  readonly title: string;
  readonly viewer: Account | null;
  /** `narrow`: a single centered form, such as for signing in. */
  readonly width?: "narrow" | "wide";
  readonly body: Html;
};

const mark = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 20c4-1 4-5 8-6s4-5 8-6" /><path d="M4 14c4-1 4-5 8-6s4-3 8-4" class="faint" /></svg>`;

function account(viewer: Account | null): Html {
  if (viewer === null) return html`<a href="/login">Sign in</a>`;
  return html`<a href="/${viewer.login}" class="who">${viewer.login}</a>
    <form method="post" action="/logout"><button class="quiet" type="submit">Sign out</button></form>`;
}

/** A complete document. All interpolated values are escaped; no inline scripts or styles. */
export function page(input: PageInput): Html {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${input.title} · Towpath Forge (local stand-in for GitHub)</title>
  <link rel="icon" href="/assets/mark.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/assets/forge.css">
  <script src="/assets/forge.js" defer></script>
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  <header class="top">
    <a class="brand" href="/">${mark}<span>Towpath Forge</span></a>
    <span class="badge stand-in">local stand-in for GitHub</span>
    <nav aria-label="Account">${account(input.viewer)}</nav>
  </header>
  <main id="main" class="${input.width ?? "wide"}">${input.body}</main>
  <footer>This server runs on your machine and serves nobody else. Repositories are real git repositories.</footer>
</body>
</html>`;
}

/** An error message above a form. */
export function problemNote(problem: string | null): Html {
  return problem === null ? html`` : html`<p class="note problem" role="alert">${problem}</p>`;
}

export function hidden(name: string, value: string | undefined): Html {
  return value === undefined ? html`` : html`<input type="hidden" name="${name}" value="${value}">`;
}

/** Text to copy, with a button if scripts are enabled. */
export function copyable(label: string, text: string): Html {
  return html`<div class="copyable">
    <pre tabindex="0" aria-label="${label}"><code>${text}</code></pre>
    <button type="button" class="copy" data-copy="${text}" hidden>Copy</button>
  </div>`;
}

/** `2026-11-21T10:00:00Z` as a short date; the exact time is its title. */
export function time(iso: string): Html {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return html``;
  const text = at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
  return html`<time datetime="${iso}" title="${iso}">${text}</time>`;
}

const asset = (name: string) => readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");

/** The style sheet, the script of the copy buttons, and the icon. */
export function assetRoutes(): Hono {
  const routes = new Hono();
  const files = [
    ["forge.css", "text/css; charset=utf-8"],
    ["forge.js", "text/javascript; charset=utf-8"],
    ["mark.svg", "image/svg+xml"],
  ] as const;
  for (const [name, type] of files) {
    const content = asset(name);
    routes.get(`/${name}`, (c) => c.body(content, 200, { "content-type": type, "cache-control": "no-cache" }));
  }
  return routes;
}
