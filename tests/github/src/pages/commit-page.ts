import { html } from "hono/html";
import type { Commit } from "../git/objects.ts";
import { type Html, time } from "./layout.ts";

/** A commit: what it says, who made it, how its builds fare, and its changes. */
export function commitBody(commit: Commit, builds: Html, changes: string): Html {
  const [title = "", ...rest] = commit.message.split("\n");
  const text = rest.join("\n").trim();
  return html`<h2>${title}</h2>
    <p class="soft small"><span class="mono">${commit.sha.slice(0, 7)}</span>, ${commit.author.name}, ${time(commit.author.date)}</p>
    ${text ? html`<pre class="wrap">${text}</pre>` : ""}
    <h2>Builds</h2>
    ${builds}
    <h2>Changes</h2>
    ${changes ? html`<pre tabindex="0" aria-label="Changes"><code>${changes}</code></pre>` : html`<p class="soft">No files changed.</p>`}`;
}

/** A file with an anchor for each line, as at GitHub. `text`: null when it is too large. */
export function fileBody(path: string, text: string | null): Html {
  if (text === null) return html`<h2 class="mono">${path}</h2><p class="soft">Too large to show.</p>`;
  const lines = text.replace(/\n$/, "").split("\n");
  return html`<h2 class="mono">${path}</h2>
    <pre tabindex="0" aria-label="File"><code>${lines.map((line, index) => html`<span id="L${index + 1}" class="line">${line}${"\n"}</span>`)}</code></pre>`;
}
