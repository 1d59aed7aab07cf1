import { html } from "hono/html";
import { z } from "zod";
import { listAnnotations } from "../state/annotations.ts";
import type { Database } from "../state/database.ts";
import type { Html } from "./layout.ts";

const statusSchema = z.object({
  state: z.enum(["error", "failure", "pending", "success"]),
  context: z.string(),
  description: z.string().nullish(),
  /** Only what a browser may open: any App can write it. */
  target_url: z
    .string()
    .regex(/^https?:\/\//)
    .nullish()
    .catch(null),
});
type Status = z.infer<typeof statusSchema>;

const words = { error: "Ended", failure: "Failed", pending: "Under way", success: "Passed" };

/** The newest status of each context at a commit, as Apps reported them. */
function statusesOf(database: Database, repositoryId: number, sha: string): readonly Status[] {
  const reported = listAnnotations(database, repositoryId, "status", sha).flatMap(
    ({ content }) => statusSchema.safeParse(content).data ?? [],
  );
  return [...new Map(reported.toReversed().map((status) => [status.context, status])).values()];
}

function statusLink({ state, description, target_url: url }: Status): Html {
  const text = html`<span class="status ${state}">${description || words[state]}</span>`;
  return url ? html`<a href="${url}">${text}</a>` : text;
}

/** How the builds of a commit fare, in one line; each leads to its build. */
export function buildStatus(database: Database, repositoryId: number, sha: string): Html {
  return html`${statusesOf(database, repositoryId, sha).map(statusLink)}`;
}

/** The same as a list with the name of each server. */
export function buildStatuses(database: Database, repositoryId: number, sha: string): Html {
  const statuses = statusesOf(database, repositoryId, sha);
  if (statuses.length === 0) return html`<p class="soft">No server builds this commit yet.</p>`;
  return html`<ul class="list tight">${statuses.map(
    (status) => html`<li class="row"><span>${status.context}</span><span class="end">${statusLink(status)}</span></li>`,
  )}</ul>`;
}
