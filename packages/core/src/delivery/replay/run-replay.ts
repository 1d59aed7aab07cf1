import { setTimeout as sleep } from "node:timers/promises";
import { callReplay, forkPullRequest, project, secret } from "@towpath/db/schema";
import { replayCalls } from "@towpath/replay";
import { and, eq, lt, or, sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { checkSettingOf } from "../../projects/project/internal.ts";
import type { ReplaySetting } from "../../projects/project/replay.schema.ts";
import { enqueueReport } from "../branch/index.ts";
import { askQuestions } from "./ask-questions.ts";
import { chooseSample, type LiveVersion, readLive, variablesRemark } from "./gather-replay.ts";
import { type ReadRedaction, readRedaction } from "./redact-answers.ts";
import type { OpenReplayServer, QuestionModel } from "./replay.port.ts";
import type { ReplayDocument } from "./replay.schema.ts";
import { overallVerdict, type ReplayRow } from "./replay.view.ts";

/** A worker says so often that it still replays. */
const renewMs = 1000;
/** After so long without that, another one may take over. */
const claimSeconds = 15;
/** One that fails for longer ends with a report that says so: the check waits for it. */
const giveUpMs = 3_600_000;

/** `busy`: another worker has it, or had it until shortly. `over`: there is nothing to replay any more. */
type RunReplayOutcome = "done" | "busy" | "over";

type RunInput = {
  readonly replayId: string;
  readonly openServer: OpenReplayServer;
  /** Null: none is configured. */
  readonly model: QuestionModel | null;
  /** Aborted when the worker stops: the replay then waits for another one. */
  readonly signal: AbortSignal;
};

/**
 * Replays production's sampled calls on a preview beside production, asks a model the saved questions with the tools of both,
 * and stores the report (CAP-4). One worker at a time
 * does, under a claim that it renews; what a killed one began starts again. The report is stored once: not by a worker that
 * has lost its claim, and not once a newer commit has taken its place or the setting was switched off.
 */
export async function runReplay({ ctx, input }: Call<RunInput, "secrets">): Promise<RunReplayOutcome> {
  authorizePlatform(ctx);
  const taken = await take(ctx, input.replayId);
  if (taken === "busy" || taken === "over") return taken;
  const claim = holdClaim(ctx, taken);
  const signal = AbortSignal.any([input.signal, claim.lost]);
  try {
    const document = await replay(ctx, taken, { openServer: input.openServer, model: input.model, signal });
    if (document === null) return "over";
    if (input.signal.aborted) return await giveBack(ctx, taken);
    return (await store(ctx, taken, document)) ? "done" : "over";
  } catch (error) {
    const failsLong = ctx.clock.now().getTime() - taken.requestedAt.getTime() > giveUpMs;
    if (failsLong) await store(ctx, taken, { ...nothing, isReplayed: true, remarks: [gaveUp] });
    else await giveBack(ctx, taken);
    throw error;
  } finally {
    await claim.release();
  }
}

const ofClaim = ({ id, attempt }: ReplayRow) =>
  and(eq(callReplay.id, id), eq(callReplay.attempt, attempt), eq(callReplay.state, "running"));
const claimEnd = sql`clock_timestamp() + ${claimSeconds} * interval '1 second'`;

async function take(ctx: Context, replayId: string): Promise<ReplayRow | "busy" | "over"> {
  const isFree = or(
    eq(callReplay.state, "waiting"),
    and(eq(callReplay.state, "running"), lt(callReplay.claimedUntil, sql`clock_timestamp()`)),
  );
  const [taken] = await ctx.db
    .update(callReplay)
    .set({
      state: "running",
      attempt: sql`${callReplay.attempt} + 1`,
      startedAt: ctx.clock.now(),
      claimedUntil: claimEnd,
    })
    .where(and(eq(callReplay.id, replayId), isFree))
    .returning();
  if (taken) return taken;
  return (await ctx.db.$count(callReplay, and(eq(callReplay.id, replayId), eq(callReplay.state, "running")))) > 0
    ? "busy"
    : "over";
}

/** Renews the claim until it is released; `lost` is aborted once it can't be. */
function holdClaim(ctx: Context, row: ReplayRow) {
  const [lost, released] = [new AbortController(), new AbortController()];
  const renew = async () => {
    while (!released.signal.aborted) {
      await sleep(renewMs, undefined, { signal: released.signal, ref: false });
      // A database that is unavailable for a moment doesn't end a replay: its claim does.
      const held = await ctx.db
        .update(callReplay)
        .set({ claimedUntil: claimEnd })
        .where(ofClaim(row))
        .returning({ id: callReplay.id })
        .catch(() => null);
      if (held?.length === 0) return lost.abort();
    }
  };
  // It rejects when it is released.
  const renewing = renew().catch(() => {});
  return {
    lost: lost.signal,
    async release() {
      released.abort();
      await renewing;
    },
  };
}

async function giveBack(ctx: Context, row: ReplayRow): Promise<"over"> {
  await ctx.db.update(callReplay).set({ state: "waiting", claimedUntil: null }).where(ofClaim(row));
  return "over";
}

async function store(ctx: Context<"secrets">, row: ReplayRow, document: ReplayDocument): Promise<boolean> {
  const tools = document.report?.tools ?? [];
  const sum = (of: "replayed" | "different") => tools.reduce((all, tool) => all + tool[of], 0);
  return ctx.db.transaction(async (tx) => {
    const stored = await tx
      .update(callReplay)
      .set({
        state: "done",
        claimedUntil: null,
        endedAt: ctx.clock.now(),
        verdict: overallVerdict(document),
        calls: sum("replayed"),
        different: sum("different"),
        tools: tools.filter(({ replayed }) => replayed > 0).length,
        sealed: ctx.secrets.replays.seal(row, JSON.stringify(document)),
      })
      .where(ofClaim(row))
      .returning();
    if (stored.length > 0) await enqueueReport(tx, ctx, row.branchId);
    return stored.length > 0;
  });
}

type Asked = Pick<RunInput, "openServer" | "model" | "signal">;

/** Null: there is nothing to replay any more. */
async function replay(ctx: Context<"secrets">, row: ReplayRow, asked: Asked): Promise<ReplayDocument | null> {
  const [owner] = await ctx.db.select().from(project).where(eq(project.id, row.projectId));
  const setting = owner && checkSettingOf(owner);
  const preview = await readLive(ctx, row.projectId, row.branchId);
  const isOfFork = (await ctx.db.$count(forkPullRequest, eq(forkPullRequest.branchId, row.branchId))) > 0;
  if (!owner || !setting || isOfFork || preview?.build.commitSha !== row.commitSha) {
    await ctx.db.transaction(async (tx) => {
      await tx.update(callReplay).set({ state: "replaced", claimedUntil: null }).where(ofClaim(row));
      // Its check waits for it.
      await enqueueReport(tx, ctx, row.branchId);
    });
    return null;
  }
  const production = await readLive(ctx, row.projectId, null);
  const { replay: calls, questions } = setting;
  const isReplayed = calls !== null;
  if (production === null) return { ...nothing, isReplayed, remarks: [nothingLive] };
  const { organizationId } = owner;
  const { projectId } = row;
  const deploymentIds = [production.deploymentId, preview.deploymentId];
  let redaction: ReturnType<ReadRedaction> | null = null;
  const compared = {
    production,
    preview,
    organizationId,
    readRedaction: () => (redaction ??= readRedaction(ctx, { organizationId, projectId, deploymentIds })),
  };
  // What fails ends the other, too: all of it is done again.
  const failed = new AbortController();
  const signal = AbortSignal.any([asked.signal, failed.signal]);
  const [replayed, choices] = await Promise.all([
    calls && replaySample(ctx, row, { ...compared, setting: calls }, { ...asked, signal }),
    questions && askQuestions(ctx, { ...compared, setting: questions }, { ...asked, signal }),
  ]).catch((error: unknown) => {
    failed.abort();
    throw error;
  });
  const { id: buildId, commitSha } = production.build;
  return { ...nothing, ...replayed, isReplayed, production: { buildId, commitSha }, questions: choices };
}

const nothing = { production: null, remarks: [], report: null, questions: null };

type Compared = {
  readonly production: LiveVersion;
  readonly preview: LiveVersion;
  readonly setting: ReplaySetting;
  readonly readRedaction: ReadRedaction;
};

async function replaySample(
  ctx: Context<"secrets">,
  row: ReplayRow,
  { production, preview, setting, readRedaction: read }: Compared,
  { openServer, signal }: Asked,
): Promise<Pick<ReplayDocument, "remarks" | "report">> {
  const reason = await whyNot(ctx, production);
  if (reason !== null) return { remarks: [reason], report: null };
  const { calls, remarks } = await chooseSample(ctx, row, { production, preview, setting });
  if (calls.length === 0) return { remarks, report: null };
  const redaction = await read();
  if (redaction === null) return { remarks: [...remarks, tooLarge], report: null };
  const remark = await variablesRemark(ctx, production, preview);
  const { projectId } = row;
  const open = ({ url, authMode }: LiveVersion) => openServer({ url, authMode, projectId });
  const [one, other] = [open(production), open(preview)];
  try {
    const report = await replayCalls({
      calls,
      production: redaction.answers(one.ask),
      preview: redaction.answers(other.ask),
      budget: { calls: setting.calls, seconds: setting.seconds },
      signal,
    });
    return { remarks: [...remarks, ...(remark === null ? [] : [remark])], report };
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

const gaveUp =
  "Nothing was replayed: it failed again and again for an hour. The log of the instance's worker says why. Then replay all again.";
const nothingLive = "Nothing was replayed: no version is live in production.";
const tooLarge =
  "Nothing was replayed: the server's environment variables are too large for Towpath to hide their values in answers.";

/** Why Towpath can't call the servers by itself; null: it can. */
async function whyNot(ctx: Context, { authMode, build: { projectId } }: LiveVersion): Promise<string | null> {
  if (authMode === "passthrough")
    return "Nothing was replayed: the server does its own sign-in, and Towpath has no credentials of its own for it.";
  const own = and(eq(secret.projectId, projectId), eq(secret.perCaller, true));
  return (await ctx.db.$count(secret, own)) > 0
    ? "Nothing was replayed: callers need values of their own for this server's variables, and Towpath uses nobody's."
    : null;
}
