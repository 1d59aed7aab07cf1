import { html } from "hono/html";
import { z } from "zod";
import { type Annotation, listAnnotations } from "../state/annotations.ts";
import type { Database } from "../state/database.ts";
import type { Html } from "./layout.ts";
import { markdown } from "./markdown.ts";

/** Only what a browser may open: any App can write it. */
const url = z
  .string()
  .regex(/^https?:\/\//)
  .nullish()
  .catch(null);

const statusSchema = z
  .object({
    state: z.enum(["error", "failure", "pending", "success"]),
    context: z.string(),
    description: z.string().nullish(),
    target_url: url,
  })
  .transform(({ state, context, description, target_url }) => {
    return { state, name: context, title: description || words[state], url: target_url, details: null };
  });

const looks = {
  action_required: "pending",
  cancelled: "error",
  failure: "failure",
  neutral: "success",
  skipped: "error",
  success: "success",
  timed_out: "failure",
} as const;

const checkSchema = z
  .object({
    name: z.string(),
    status: z.enum(["queued", "in_progress", "completed"]),
    conclusion: z.enum(Object.keys(looks) as [keyof typeof looks]).nullish(),
    details_url: url,
    output: z.object({ title: z.string(), summary: z.string(), text: z.string().nullish() }).nullish(),
  })
  .transform(({ name, conclusion, details_url, output }) => {
    const state = conclusion ? looks[conclusion] : ("pending" as const);
    const details = output && [output.summary, output.text].filter(Boolean).join("\n\n");
    return { state, name, title: output?.title || words[state], url: details_url, details: details || null };
  });
type Status = z.output<typeof statusSchema> | z.output<typeof checkSchema>;

const words = { error: "Ended", failure: "Failed", pending: "Under way", success: "Passed" };

/** The newest check run or status of each name at a commit, as Apps reported them. */
function statusesOf(database: Database, repositoryId: number, sha: string): readonly Status[] {
  const read = (kind: "status" | "check_run", parse: (each: Annotation) => Status | null | undefined) =>
    listAnnotations(database, repositoryId, kind, sha).flatMap((each) => parse(each) ?? []);
  const reported = [
    ...read("check_run", ({ content }) => checkSchema.safeParse(content).data),
    ...read("status", ({ content }) => statusSchema.safeParse(content).data),
  ];
  return [...new Map(reported.toReversed().map((status) => [status.name, status])).values()];
}

function statusLink({ state, title, url: to }: Status): Html {
  const text = html`<span class="status ${state}">${title}</span>`;
  return to ? html`<a href="${to}">${text}</a>` : text;
}

/** How the builds of a commit fare, in one line; each leads to its build. */
export function buildStatus(database: Database, repositoryId: number, sha: string): Html {
  return html`${statusesOf(database, repositoryId, sha).map(statusLink)}`;
}

/** The same as a list with the name of each server, and what its check says. */
export function buildStatuses(database: Database, repositoryId: number, sha: string): Html {
  const statuses = statusesOf(database, repositoryId, sha);
  if (statuses.length === 0) return html`<p class="soft">No server builds this commit yet.</p>`;
  const item = (status: Status) => html`<li>
    <div class="row"><span>${status.name}</span><span class="end">${statusLink(status)}</span></div>
    ${status.details ? html`<details><summary class="small">Details</summary>${markdown(status.details)}</details>` : ""}
  </li>`;
  return html`<ul class="list tight">${statuses.map(item)}</ul>`;
}
