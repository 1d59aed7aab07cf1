import { versionText } from "@towpath/core/delivery/build/version/schema";
import {
  approvalSchema,
  type ChangePolicyInput,
  type GradualReleaseView,
  gradualReleaseSchema,
  releaseActionSchema,
  releaseFiguresSchema,
  releasePolicySchema,
  type VersionFigures,
} from "@towpath/core/delivery/gradual-release/schema";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { commitText, listDeployments } from "../deployments/deployments.ts";
import { type Api, connectApi } from "../instance/api.ts";
import { projectPath } from "../servers/list.ts";
import { orList } from "../terminal/or-list.ts";
import { bold, CommandError, dim, green, output, print, UsageError, yellow } from "../terminal/terminal.ts";

const shownSchema = z.object({ release: gradualReleaseSchema.nullable(), figures: releaseFiguresSchema.nullable() });
type Shown = z.infer<typeof shownSchema>;

const decisions = ["approve", "reject"] as const;
const actions = ["show", ...releaseActionSchema.options, ...decisions, "settings"] as const;

type Values = ReturnType<typeof parse<"release">>["values"];

/** `towpath release NAME [ACTION]`: the gradual release of a server, approvals, and how it is released. */
export async function release(args: string[]): Promise<number> {
  const { values, positionals } = parse("release", args);
  const [name = "", given = "show"] = positionals;
  const action = actions.find((each) => each === given);
  if (action === undefined) throw new UsageError(`There is no action ${given}. Pass ${orList(actions)}.`);
  const changes = policyOf(values);
  if (action !== "settings" && Object.keys(changes).length > 0) {
    throw new UsageError("Settings are changed by: towpath release NAME settings …");
  }
  const api = await connectApi(values);
  if (action === "settings") return settings(api, name, changes);
  const decision = decisions.find((each) => each === action);
  if (decision) return decide(api, name, decision);
  return show(await move(api, name, action === "show" ? null : releaseActionSchema.parse(action)));
}

function move(api: Api, name: string, action: z.infer<typeof releaseActionSchema> | null): Promise<Shown> {
  const path = `${projectPath(name)}/release`;
  if (action === null) return api.call("GET", path, shownSchema);
  return api.call("POST", path, shownSchema, { body: { action } });
}

function show(shown: Shown): number {
  output(shown, () => printRelease(shown));
  return 0;
}

function printRelease({ release: found, figures }: Shown): void {
  print(found === null ? "This server had no gradual release yet." : stateText(found));
  if (figures === null || found === null) return;
  const line = (version: string, { calls, errors, p50Ms, p95Ms }: VersionFigures) => [
    version.padEnd(12),
    ...[String(calls), String(errors), inMs(p50Ms), inMs(p95Ms)].map((text) => text.padStart(9)),
  ];
  const head = ["in this step".padEnd(12), ...["calls", "errors", "p50", "p95"].map((text) => text.padStart(9))];
  print(dim(head.join(" ")));
  print(line(versionText(found.stable), figures.stable).join(" "));
  print(line(versionText(found.candidate), figures.candidate).join(" "));
}

function stateText({ state, share, reason, ...of }: GradualReleaseView): string {
  const [candidate, stable] = [versionText(of.candidate), versionText(of.stable)];
  if (state === "running") return `${bold(`${share} %`)} of new sessions get ${candidate}, the others ${stable}.`;
  if (state === "finished") return `${green("Finished:")} ${candidate} took the place of ${stable}.`;
  return `${yellow(state === "stopped" ? "Stopped:" : "Went back:")} ${candidate}. ${reason ?? ""}`.trimEnd();
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
const inMs = (value: number | null): string => (value === null ? "–" : `${Math.round(value)} ms`);

async function decide(api: Api, name: string, decision: (typeof decisions)[number]): Promise<number> {
  const waiting = (await listDeployments(api, name)).find(({ approval }) => approval === "waiting");
  if (!waiting) throw new CommandError("No version of this server waits for an approval.");
  const path = `/api/v1/deployments/${waiting.deployment.id}/${decision}`;
  const { isLive, url } = await api.call("POST", path, z.object({ isLive: z.boolean(), url: z.string() }));
  output({ decision, commitSha: waiting.commitSha, isLive, url }, () => {
    const done = decision === "approve" ? green("Approved:") : yellow("Rejected:");
    print(`${done} ${commitText(waiting)}`);
    if (decision === "approve")
      print(isLive ? `Live at ${url}` : `It is released gradually: towpath release ${name} shows how far.`);
  });
  return 0;
}

async function settings(api: Api, name: string, changes: ChangePolicyInput): Promise<number> {
  const path = `${projectPath(name)}/release-policy`;
  const isChange = Object.keys(changes).length > 0;
  const policy = isChange
    ? await api.call("PATCH", path, releasePolicySchema, { body: changes })
    : await api.call("GET", path, releasePolicySchema);
  output(policy, () => {
    print(`Pushes are released ${policy.isGradual ? "gradually" : "at once"}.`);
    const [minutes, calls] = [counted(policy.minutesPerStep, "minute"), counted(policy.minCalls, "call")];
    print(`A step lasts ${minutes} and ${calls} of the new version at least.`);
    print(
      `It goes back with more than ${policy.maxErrorPoints} percentage points of errors more, or more than ${policy.maxLatencyFactor} times the p95 latency.`,
    );
    const who = { nobody: "Nobody approves", admin: "An admin or owner approves", owner: "An owner approves" };
    print(`${who[policy.approval]} versions for production.`);
  });
  return 0;
}

/** @throws UsageError for what is no number or choice; the instance checks the bounds */
function policyOf(values: Values): ChangePolicyInput {
  const numberOf = (option: "minutes" | "calls" | "errors" | "latency") => {
    const text = values[option];
    if (text === undefined) return undefined;
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number))
      throw new UsageError(`--${option} must be a number, not ${text}.`);
    return number;
  };
  const given = {
    isGradual: onOrOff(values.gradually),
    minutesPerStep: numberOf("minutes"),
    minCalls: numberOf("calls"),
    maxErrorPoints: numberOf("errors"),
    maxLatencyFactor: numberOf("latency"),
    approval: approvalOf(values.approval),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function onOrOff(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === "on" || text === "off") return text === "on";
  throw new UsageError(`--gradually must be on or off, not ${text}.`);
}

function approvalOf(text: string | undefined): z.infer<typeof approvalSchema> | undefined {
  if (text === undefined) return undefined;
  const approval = approvalSchema.safeParse(text).data;
  if (approval === undefined)
    throw new UsageError(`--approval must be ${orList(approvalSchema.options)}, not ${text}.`);
  return approval;
}
