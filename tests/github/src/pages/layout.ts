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

const mark = html`<svg class="mark" viewBox="0 0 24 24" fill="none" aria-hidden="true"><rect width="24" height="24" rx="6" fill="var(--accent)" /><g stroke="var(--on-accent)" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M6.5 5v14M17.5 5v14" /><path d="m6.5 12.2 5.5-3.7 5.5 3.7" /><path d="m6.5 18 5.5-3.7 5.5 3.7" opacity=".5" /></g></svg>`;

const themes = ["Light", "Dark", "System"];

const themeSwitch = html`<fieldset class="themes" data-theme-switch hidden><legend class="hidden">Theme</legend>
    ${themes.map((theme) => html`<label><input type="radio" name="theme" value="${theme.toLowerCase()}">${theme}</label>`)}</fieldset>`;

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
  <title>${input.title} · Towpath Forge</title>
  <link rel="icon" href="/assets/mark.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/assets/forge.css">
  <script src="/assets/theme.js"></script>
  <script src="/assets/forge.js" defer></script>
</head>
<body>
  <a class="skip" href="#main">Skip to content</a>
  <header class="top"><div class="bar">
    <a class="brand" href="/">${mark}<span>towpath</span><span class="place">Forge</span></a>
    <nav aria-label="Account"><a href="/-/dashboard">Dashboard</a>${account(input.viewer)}</nav>
  </div></header>
  <main id="main" class="${input.width ?? "wide"}">${input.body}</main>
  <footer><span>Towpath's Git server. It runs on this machine and serves nobody else.</span>${themeSwitch}</footer>
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

const own = (name: string) => new URL(`assets/${name}`, import.meta.url);
const sans = import.meta.resolve("@fontsource-variable/geist/files/geist-latin-wght-normal.woff2");
const mono = import.meta.resolve("@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2");

const assets = [
  ["forge.css", own("forge.css"), "text/css; charset=utf-8"],
  ["forge.js", own("forge.js"), "text/javascript; charset=utf-8"],
  ["theme.js", own("theme.js"), "text/javascript; charset=utf-8"],
  ["mark.svg", own("mark.svg"), "image/svg+xml"],
  ["geist.woff2", new URL(sans), "font/woff2"],
  ["geist-mono.woff2", new URL(mono), "font/woff2"],
] as const;

/** Style sheet, scripts, icon and fonts. */
export function assetRoutes(): Hono {
  const routes = new Hono();
  for (const [name, file, type] of assets) {
    const content = readFileSync(file);
    routes.get(`/${name}`, (c) =>
      c.body(content, 200, {
        "content-type": type,
        "cache-control": type === "font/woff2" ? "max-age=86400" : "no-cache",
      }),
    );
  }
  return routes;
}
