import { html } from "hono/html";
import type { Commit } from "../git/commits.ts";
import { type Html, time } from "./layout.ts";

const firstLine = (message: string) => message.split("\n", 1)[0] ?? "";

/** A commit in a list. */
export function commitItem(commit: Commit): Html {
  return html`<li><div class="row"><span>${firstLine(commit.message)}</span><span class="end soft small mono">${commit.sha.slice(0, 7)}</span></div>
    <p class="soft small">${commit.author.name}, ${time(commit.committer.date)}</p></li>`;
}
