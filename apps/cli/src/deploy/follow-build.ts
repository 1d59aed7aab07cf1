import {
  type BuildLogKind,
  buildLogEntrySchema,
  buildStatusSchema,
  buildWarningSchema,
  type Diagnosis,
  diagnosisSchema,
} from "@towpath/core/delivery/build/contract";
import { authModeSchema } from "@towpath/core/projects/project/schema";
import { z } from "zod";
import type { Api } from "../instance/api.ts";
import { callers } from "../settings/auth-mode.ts";
import { bold, dim, green, output, print, printError, printsJson, red, yellow } from "../terminal/terminal.ts";
import { printWarning } from "../terminal/warning.ts";

// Earlier instances don't report versions of packages.
export const buildSchema = z.object({
  id: z.string(),
  status: buildStatusSchema,
  commitSha: z.string(),
  packageVersion: z.string().nullable().default(null),
});

const outcomeSchema = z.object({
  // Earlier instances don't report who may call it.
  build: buildSchema.extend({
    project: z.object({ authMode: authModeSchema, name: z.string().optional() }).optional().catch(undefined),
    // Earlier instances have neither.
    approval: z.string().nullable().default(null),
    release: z.object({ state: z.string(), share: z.number() }).nullable().default(null),
  }),
  url: z.string().nullable(),
  // Earlier instances don't report the action that ends a failure.
  diagnosis: diagnosisSchema
    .extend({ action: diagnosisSchema.shape.action.catch({ kind: "code", path: null }) })
    .nullable(),
  warnings: z.array(buildWarningSchema),
});
type Outcome = z.infer<typeof outcomeSchema>;

const paintByKind: Readonly<Record<BuildLogKind, (text: string) => string>> = {
  step: (text) => text,
  result: (text) => green(bold(text)),
  output: dim,
  warning: yellow,
  error: red,
};

export const readOutcome = (api: Api, buildId: string) =>
  api.call("GET", `/api/v1/builds/${buildId}`, outcomeSchema, { retry: true });

type Line = z.infer<typeof buildLogEntrySchema>;

export function lineText(line: Line): string {
  const text = line.text.replaceAll("\n", `\n${" ".repeat(9)}`);
  return `${dim(line.phase.padEnd(8))} ${paintByKind[line.kind](text)}`;
}

/** Prints the log as it arrives. Returns an error in the last line unprinted: the caller has the whole diagnosis. */
async function printLog(api: Api, buildId: string): Promise<string | null> {
  let held: string | null = null;
  for await (const { event, data } of api.events(`/api/builds/${buildId}/log`)) {
    if (event !== "line") continue;
    const line = buildLogEntrySchema.parse(JSON.parse(data));
    if (printsJson()) output({ event: "line", ...line }, () => {});
    else {
      if (held !== null) print(held);
      const shown = lineText(line);
      held = line.kind === "error" ? shown : null;
      if (held === null) print(shown);
    }
  }
  return held;
}

/** The build's page in the dashboard. The path of a server with a reserved name isn't its name. */
export function buildPage(
  api: Pick<Api, "url">,
  { organization, project }: { readonly organization: string; readonly project: { readonly pathName: string } | null },
  { name, buildId }: { readonly name: string; readonly buildId: string },
): string {
  return `${api.url}/${organization}/${project?.pathName ?? name}/build-logs/${buildId}`;
}

/** Follows a build to its end. Exit status 0 if it goes live, else 1. Ctrl-C doesn't stop the build. */
export async function followBuild(api: Api, buildId: string, page: string): Promise<number> {
  const leave = () => {
    printError(`\nThe build continues without this terminal. Follow it at ${page}`);
    process.exit(130);
  };
  process.once("SIGINT", leave);
  try {
    const lastError = await printLog(api, buildId);
    return report(await readOutcome(api, buildId), lastError);
  } finally {
    process.off("SIGINT", leave);
  }
}

/** Prints the live server's URL, who can call it, and the build's warnings. */
export function printLive({ build, url, warnings }: Pick<Outcome, "build" | "url" | "warnings">): void {
  print(`\n${green("Live:")} ${url}`);
  if (build.project) print(`Can be called by ${callers[build.project.authMode]}.`);
  for (const warning of warnings) printWarning(warning);
}

/** The last line of `--json`, of a build that has ended. */
export const outputEnd = ({ build, url, diagnosis, warnings }: Outcome): void =>
  output(
    { event: "end", buildId: build.id, status: build.status, commitSha: build.commitSha, url, diagnosis, warnings },
    () => {},
  );

function report({ build, url, diagnosis, warnings }: Outcome, lastError: string | null): number {
  outputEnd({ build, url, diagnosis, warnings });
  const command = `towpath release ${build.project?.name ?? "NAME"}`;
  if (build.approval === "waiting") {
    print(`\n${yellow("Waits for approval:")} it goes live once somebody has run ${command} approve.`);
    return 0;
  }
  if (build.release?.state === "running") {
    print(`\n${green(`Live for ${build.release.share} % of new sessions.`)} ${command} shows how far it is.`);
    return 0;
  }
  if (build.status === "succeeded" && url) {
    printLive({ build, url, warnings });
    return 0;
  }
  if (!diagnosis) {
    if (lastError !== null) print(lastError);
    printError(`\n${red("✗")} The build ended as ${build.status}.`);
    return 1;
  }
  printError(`\n${red("✗")} ${bold(diagnosis.title)}\n  ${diagnosis.detail}`);
  if (diagnosis.excerpt) printError(dim(diagnosis.excerpt.trimEnd().replace(/^/gm, "    ")));
  printError(`  ${bold("What to do:")} ${diagnosis.remedy}`);
  const next = nextStep(diagnosis);
  if (next !== null) printError(`  ${bold("From here:")} ${next}`);
  return 1;
}

/** The terminal's counterpart of the dashboard's button, form or link; null where the remedy is enough. */
export function nextStep({ action, line }: Pick<Diagnosis, "action" | "line">): string | null {
  switch (action.kind) {
    case "variables":
      return `deploy again with ${action.names.map((name) => `--env ${name}=…`).join(" ")}`;
    case "entrypoint":
    case "root-directory":
      return `deploy again with ${action.candidates.map((each) => `--${action.kind} ${each}`).join(", or ")}`;
    case "code":
      return action.path === null ? null : `open ${action.path}${line === null ? "" : ` line ${line}`}`;
    case "rebuild":
      return "deploy again";
    case "settings":
    case "operator":
      return null;
  }
}
