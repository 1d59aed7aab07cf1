import type { SignInStepKind } from "@towpath/core/calling/oauth/sign-in-step";
import type { Reader } from "../query/reader.ts";
import { readSignInSteps } from "./read-sign-in-steps.ts";
import type { SignInStepEntry } from "./sign-in.schema.ts";
import { signInProblemTexts } from "./sign-in-texts.ts";

const minuteMs = 60_000;
/** A person who tries again comes to three or four. */
const minStarts = 5;
const withinMinutes = 30;
/** Names of clients can be made up: the loops of a server are bounded. */
const maxLoops = 5;

/** A client that begins to sign in again and again, without an accepted call since. */
export type SignInLoop = {
  readonly client: string;
  /** The same for the same client. */
  readonly key: string;
  readonly starts: number;
  readonly minutes: number;
  /** Why its last attempt failed; null: it just ended. */
  readonly problem: string | null;
};

/** What a client repeats when it starts over. A plain 401 doesn't count: monitors get many. */
const startKinds: readonly SignInStepKind[] = [
  "resource_metadata",
  "registration",
  "authorization",
  "token",
  "assertion",
];

/** Finds loops in steps, oldest first. Pure. */
export function signInLoops(steps: readonly SignInStepEntry[], now: number): readonly SignInLoop[] {
  const nameOf = clientNames(steps);
  const recent = steps.filter(({ time }) => time.getTime() >= now - withinMinutes * minuteMs);
  const byClient = Map.groupBy(recent, nameOf);
  const loops: SignInLoop[] = [];
  for (const [client, own] of byClient) {
    if (client === null) continue;
    const success = own.findLastIndex(
      ({ kind, problem }) => problem === null && (kind === "call" || kind === "refresh"),
    );
    const since = own.slice(success + 1);
    const starts = Math.max(...startKinds.map((kind) => since.filter((step) => step.kind === kind).length));
    if (starts < minStarts) continue;
    const problem = since.findLast((step) => step.problem !== null)?.problem ?? null;
    loops.push({
      client,
      key: client.toLowerCase(),
      starts,
      minutes: withinMinutes,
      problem: problem && `${signInProblemTexts[problem].title}. ${signInProblemTexts[problem].text}`,
    });
  }
  return loops.toSorted((a, b) => b.starts - a.starts).slice(0, maxLoops);
}

/** What a client is called: as it registered, else its program without the version; each step knows only some of it. */
function clientNames(steps: readonly SignInStepEntry[]): (step: SignInStepEntry) => string | null {
  const [byId, byProgram] = [new Map<string, string>(), new Map<string, string>()];
  const programOf = ({ agent, network }: SignInStepEntry) => agent && `${agent}\n${network}`;
  for (const step of steps) {
    const program = programOf(step);
    const name = step.clientName ?? (step.clientId && byId.get(step.clientId));
    if (!name) continue;
    if (step.clientId) byId.set(step.clientId, name);
    if (program) byProgram.set(program, name);
  }
  return (step) =>
    step.clientName ??
    (step.clientId ? byId.get(step.clientId) : undefined) ??
    byProgram.get(programOf(step) ?? "") ??
    step.agent?.split("/", 1)[0] ??
    null;
}

/** The loops of those of the projects that have any. */
export async function findSignInLoops(
  reader: Reader,
  projectIds: readonly string[],
  now = Date.now(),
): Promise<readonly (SignInLoop & { readonly projectId: string })[]> {
  const { rows } = await reader.query<{ projectId: string }>(
    `SELECT project_id AS "projectId" FROM sign_in_step
     WHERE is_proven = ANY('{true,false}') AND time > $2 AND project_id = ANY($1::uuid[])
     GROUP BY 1 HAVING count(*) >= ${minStarts}`,
    [projectIds, new Date(now - withinMinutes * minuteMs)],
  );
  const found: (SignInLoop & { readonly projectId: string })[] = [];
  for (const { projectId } of rows) {
    const steps = await readSignInSteps(reader, projectId);
    found.push(...signInLoops(steps, now).map((loop) => ({ ...loop, projectId })));
  }
  return found;
}
