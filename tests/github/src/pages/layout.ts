import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A complete document with the form that a browser test clicks. All interpolated values are escaped. */
export function page({ title, body }: { readonly title: string; readonly body: Html }): Html {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title} · stand-in for GitHub</title>
  <link rel="icon" href="data:,">
</head>
<body><main><h1>${title}</h1>${body}</main></body>
</html>`;
}

/** An error message above a form. */
export function problemNote(problem: string | null): Html {
  return problem === null ? html`` : html`<p role="alert">${problem}</p>`;
}

export function hidden(name: string, value: string | undefined): Html {
  return value === undefined ? html`` : html`<input type="hidden" name="${name}" value="${value}">`;
}
