import { type SignInStepKind, signInStepKinds } from "@towpath/core/calling/oauth/sign-in-step";
import type { AttemptStep, SignInAttempt, SignInAttempts, SignInStepEntry } from "./sign-in.schema.ts";

const minuteMs = 60_000;
/** Time for people to sign in and decide; the authorization server waits no longer. */
const decisionMs = 15 * minuteMs;
/** A client that starts over within this time continues the same attempt. */
const restartMs = 2 * minuteMs;
/** Max attempts of each kind, so that strangers' attempts don't displace proven ones. */
const maxProven = 200;
const maxUnproven = 100;

/** An attempt while its steps are collected. */
type Draft = { readonly steps: SignInStepEntry[]; last: SignInStepEntry };

const orderOf = (kind: SignInStepKind) => signInStepKinds.indexOf(kind);
const programOf = ({ agent, network }: SignInStepEntry) => (agent === null ? null : `${agent}\n${network}`);
const isOver = ({ last }: Draft) => last.problem !== null || last.kind === "call" || last.kind === "refresh";

/**
 * Groups the steps of a server's clients (oldest first) into attempts, by the first rule that fits: steps of one
 * authorization request, of one PKCE challenge or `state`, of one `client_id`, and those of one program before it names
 * a client. A network alone joins nothing: many people share one.
 */
export function attemptsOf(steps: readonly SignInStepEntry[], now: number): SignInAttempts {
  const drafts: Draft[] = [];
  const rules = [isSameAuthorization, isSameFlow, isSameClient, isSameProgram, isOfItsProgram(steps)];
  for (const step of steps) {
    const draft = rules.reduce<Draft | undefined>(
      (found, rule) => found ?? drafts.findLast((each) => rule(each, step)),
      undefined,
    );
    if (draft) {
      draft.steps.push(step);
      draft.last = step;
    } else drafts.push({ steps: [step], last: step });
  }
  const clients = clientsOfPrograms(steps);
  const renewals = steps.filter(({ kind, problem }) => kind === "refresh" && problem === null);
  const shown = drafts.filter((draft) => !isAlone(draft) && !isRenewed(draft, renewals));
  const newest = shown.map((draft) => attemptOf(draft, clients, now)).toSorted(byLast);
  const proven = newest.filter(({ isProven }) => isProven).slice(0, maxProven);
  const unproven = newest.filter(({ isProven }) => !isProven).slice(0, maxUnproven);
  return {
    attempts: [...proven, ...unproven].toSorted(byLast),
    leftOut: steps.reduce((sum, { leftOut }) => sum + leftOut, 0),
  };
}

const byLast = (a: SignInAttempt, b: SignInAttempt) => b.lastAt.localeCompare(a.lastAt);

/** Only steps that name no server: their client did not come here. */
const isAlone = ({ steps }: Draft) => steps.every(({ kind }) => kind === "server_metadata");

/** A client whose token expired and which renews its tokens works as intended; not each renewal is kept. */
function isRenewed(draft: Draft, renewals: readonly SignInStepEntry[]): boolean {
  const { last } = draft;
  if (last.problem !== "token_expired") return false;
  const clientId = knownOf(draft, "clientId");
  return renewals.some((step) => {
    if (differ(clientId, step.clientId)) return false;
    const laterMs = step.time.getTime() - last.time.getTime();
    return programOf(step) === programOf(last) && laterMs > -2 * decisionMs && laterMs < restartMs;
  });
}

type Rule = (draft: Draft, step: SignInStepEntry) => boolean;

/** A fact about a draft from any of its steps. */
const knownOf = <Name extends "clientId" | "authorizationId" | "flow">(draft: Draft, name: Name) =>
  draft.steps.find((each) => each[name] !== null)?.[name] ?? null;

const differ = (one: string | null, other: string | null) => one !== null && other !== null && one !== other;

const isSameAuthorization: Rule = (draft, { authorizationId }) =>
  authorizationId !== null && draft.steps.some((each) => each.authorizationId === authorizationId);

/** Also for a request that was sent again, for example by a reloaded page. */
const isSameFlow: Rule = (draft, { flow, clientId }) =>
  flow !== null && !differ(knownOf(draft, "clientId"), clientId) && draft.steps.some((each) => each.flow === flow);

const isSameClient: Rule = (draft, step) =>
  step.clientId !== null && knownOf(draft, "clientId") === step.clientId && mayGoOn(draft, step);

/** A client with another name is another attempt, even from a similar program. */
const isSameProgram: Rule = (draft, step) => {
  const program = programOf(step);
  if (program === null || differ(knownOf(draft, "clientId"), step.clientId) || !mayGoOn(draft, step)) return false;
  return draft.steps.some((each) => programOf(each) === program);
};

/** The person's browser, opened by the program that later exchanged the code of the same request. */
function isOfItsProgram(steps: readonly SignInStepEntry[]): Rule {
  const programs = Map.groupBy(
    steps.filter(({ agent, authorizationId }) => agent !== null && authorizationId !== null),
    ({ authorizationId }) => authorizationId,
  );
  return (draft, step) => {
    if (step.authorizationId === null || knownOf(draft, "clientId") !== null || !mayGoOn(draft, step)) return false;
    const own = programs.get(step.authorizationId)?.map(programOf) ?? [];
    return draft.steps.some((each) => own.includes(programOf(each)));
  };
}

/** Whether a step without a known request can be the next one, or repeats a beginning. */
function mayGoOn(draft: Draft, step: SignInStepEntry): boolean {
  if (isOver(draft)) return false;
  // A call with an old token, unless the client has just received its first.
  const hasToken = draft.last.kind === "token" || draft.last.kind === "assertion";
  if (step.kind === "call" && !hasToken && knownOf(draft, "clientId") !== null) return false;
  if (differ(knownOf(draft, "authorizationId"), step.authorizationId)) return false;
  if (differ(knownOf(draft, "flow"), step.flow)) return false;
  const isLater = orderOf(step.kind) >= orderOf(draft.last.kind);
  return step.time.getTime() - draft.last.time.getTime() <= (isLater ? decisionMs : restartMs);
}

type Client = { readonly clientId: string | null; readonly clientName: string | null };

/** The client of each program that named exactly one in all attempts. */
function clientsOfPrograms(steps: readonly SignInStepEntry[]): ReadonlyMap<string, Client> {
  const clients = new Map<string, Client>();
  const ambiguous = new Set<string>();
  for (const step of steps) {
    const program = programOf(step);
    if (program === null || step.clientId === null || step.clientName === null) continue;
    if (differ(clients.get(program)?.clientId ?? null, step.clientId)) ambiguous.add(program);
    clients.set(program, step);
  }
  for (const program of ambiguous) clients.delete(program);
  return clients;
}

function attemptOf({ steps, last }: Draft, clients: ReadonlyMap<string, Client>, now: number): SignInAttempt {
  const [first = last] = steps;
  const of = <Name extends keyof SignInStepEntry>(name: Name) => steps.find((step) => step[name] !== null)?.[name];
  const agent = of("agent") ?? null;
  const program = steps.map(programOf).find((each) => each !== null);
  const known = of("clientId") ? undefined : clients.get(program ?? "");
  const state = stateOf(last, now);
  return {
    id: of("authorizationId") ?? `step-${first.id}`,
    clientId: of("clientId") ?? known?.clientId ?? null,
    clientName: of("clientName") ?? known?.clientName ?? null,
    agent,
    network: steps.find((step) => step.agent !== null)?.network ?? of("network") ?? null,
    userId: of("userId") ?? null,
    keyId: of("keyId") ?? null,
    startedAt: first.time.toISOString(),
    lastAt: last.time.toISOString(),
    state,
    problem: last.problem,
    endedAt: last.problem === null ? furthestOf(steps) : last.kind,
    steps: chainOf(steps, last, state),
    faults: faultsOf(steps),
    isProven: steps.some(({ isProven }) => isProven),
  };
}

function stateOf(last: SignInStepEntry, now: number): SignInAttempt["state"] {
  if (last.problem !== null) return "failed";
  if (last.kind === "call" || last.kind === "refresh") return "connected";
  return now - last.time.getTime() < decisionMs ? "waiting" : "unfinished";
}

/** All possible steps, with the known facts about each. */
function chainOf(
  steps: readonly SignInStepEntry[],
  last: SignInStepEntry,
  state: SignInAttempt["state"],
): readonly AttemptStep[] {
  const isWithKey = last.problem?.startsWith("key_") === true;
  if (isWithKey) return [stepOf("call", last, "failed")];
  const reached = orderOf(furthestOf(steps));
  const kinds = kindsOf(steps);
  const next = kinds.find((kind) => orderOf(kind) > reached);
  return kinds.map((kind) => {
    const seen = steps.findLast((step) => step.kind === kind);
    if (seen) return stepOf(kind, seen, seen.problem === null ? "done" : "failed");
    // Known from before, or implied: nobody gets further without it.
    if (orderOf(kind) < reached) return stepOf(kind, undefined, "done");
    const isNext = state === "waiting" && kind === next;
    return stepOf(kind, undefined, isNext ? "waiting" : "unreached");
  });
}

/** What an assertion of the person's identity provider replaces. */
const replaced: readonly SignInStepKind[] = ["authorization", "sign_in", "consent", "token"];

function kindsOf(steps: readonly SignInStepEntry[]): readonly SignInStepKind[] {
  const has = (kind: SignInStepKind) => steps.some((step) => step.kind === kind);
  const isAsserted = has("assertion") && !replaced.some(has);
  return signInStepKinds.filter((kind) => {
    if (kind === "refresh" || (kind === "assertion" && !isAsserted)) return has(kind);
    return !isAsserted || !replaced.includes(kind);
  });
}

/** Each once, the latest last. */
function faultsOf(steps: readonly SignInStepEntry[]): SignInAttempt["faults"] {
  const seen = new Map<string, SignInAttempt["faults"][number]>();
  for (const { fault, detail, time } of steps) {
    if (fault === null) continue;
    seen.delete(fault);
    seen.set(fault, { fault, detail, time: time.toISOString() });
  }
  return [...seen.values()];
}

const furthestOf = (steps: readonly SignInStepEntry[]): SignInStepKind =>
  signInStepKinds[Math.max(...steps.map(({ kind }) => orderOf(kind)))] ?? "challenge";

const stepOf = (kind: SignInStepKind, seen: SignInStepEntry | undefined, state: AttemptStep["state"]): AttemptStep => ({
  kind,
  state,
  time: seen?.time.toISOString() ?? null,
  problem: state === "failed" ? (seen?.problem ?? null) : null,
  detail: seen?.detail ?? null,
});
