import { html } from "hono/html";
import { z } from "zod";
import { listAnnotations } from "../state/annotations.ts";
import type { Database } from "../state/database.ts";
import { type Html, time } from "./layout.ts";

const url = z
  .string()
  .regex(/^https?:\/\//)
  .nullish()
  .catch(null);
const deploymentSchema = z.object({ sha: z.string(), environment: z.string() });
const statusSchema = z.object({ state: z.string(), log_url: url, environment_url: url });

const words: Readonly<Record<string, string>> = {
  error: "Ended",
  failure: "Failed",
  inactive: "Inactive",
  in_progress: "Deploying",
  pending: "Waits",
  queued: "Waits",
  success: "Active",
};
const looks: Readonly<Record<string, string>> = {
  success: "success",
  failure: "failure",
  inactive: "error",
  error: "error",
};

/** The newest deployment of each environment, as Apps reported them. Nothing where there is none. */
export function deploymentList(database: Database, repository: { id: number; path: string }): Html {
  const newest = new Map<string, Html>();
  for (const { id, content } of listAnnotations(database, repository.id, "deployment")) {
    const deployment = deploymentSchema.safeParse(content).data;
    if (!deployment || newest.has(deployment.environment)) continue;
    const [row] = listAnnotations(database, repository.id, "deployment_status", String(id));
    const status = statusSchema.safeParse(row?.content).data;
    newest.set(
      deployment.environment,
      item(repository.path, deployment, row ? { ...status, at: row.created_at } : null),
    );
  }
  if (newest.size === 0) return html``;
  return html`<h2>Deployments</h2><ul class="list tight">${[...newest.values()]}</ul>`;
}

type Shown = Partial<z.infer<typeof statusSchema>> & { readonly at: string };

function item(path: string, { sha, environment }: z.infer<typeof deploymentSchema>, status: Shown | null): Html {
  const state = status?.state ?? "pending";
  const text = html`<span class="status ${looks[state] ?? "pending"}">${words[state] ?? state}</span>`;
  return html`<li class="row"><span>${status?.environment_url ? html`<a href="${status.environment_url}">${environment}</a>` : environment}</span>
    <span class="end small statuses">${status?.log_url ? html`<a href="${status.log_url}">${text}</a>` : text}</span>
    <span class="soft small">${status ? time(status.at) : ""}</span><span class="small mono"><a href="${path}/commit/${sha}">${sha.slice(0, 7)}</a></span></li>`;
}
