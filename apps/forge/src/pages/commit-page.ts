import { html } from "hono/html";
import type { Commit } from "../git/objects.ts";
import type { Annotation } from "../state/annotations.ts";
import { type Html, time } from "./layout.ts";

const isWebUrl = (url: unknown): url is string => typeof url === "string" && /^https?:\/\//.test(url);

/** The newest status of each context, as apps reported them for the commit. `statuses`: newest first. */
function statusList(statuses: readonly Annotation[]): Html {
  const newest = new Map(statuses.toReversed().map((status) => [String(status.content.context), status.content]));
  if (newest.size === 0) return html``;
  const items = [...newest].map(
    ([name, { state, description, target_url }]) =>
      html`<li class="row"><span class="badge">${String(state)}</span> <span>${isWebUrl(target_url) ? html`<a href="${target_url}">${name}</a>` : name}</span>
        <span class="end soft small">${String(description ?? "")}</span></li>`,
  );
  return html`<h2>Status</h2><ul class="list tight">${items}</ul>`;
}

/** A commit: what it says, who made it, what builds and deployments reported, and its changes. */
export function commitBody(commit: Commit, statuses: readonly Annotation[], changes: string): Html {
  const [title = "", ...rest] = commit.message.split("\n");
  const text = rest.join("\n").trim();
  return html`<h2>${title}</h2>
    <p class="soft small"><span class="mono">${commit.sha.slice(0, 7)}</span>, ${commit.author.name}, ${time(commit.author.date)}</p>
    ${text ? html`<pre class="wrap">${text}</pre>` : ""}
    ${statusList(statuses)}
    <h2>Changes</h2>
    ${changes ? html`<pre tabindex="0" aria-label="Changes"><code>${changes}</code></pre>` : html`<p class="soft">It changes no file.</p>`}`;
}
