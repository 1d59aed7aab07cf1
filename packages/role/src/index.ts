// How every process of an instance starts and stops. The supervisor (apps/cli) relies on it: one message says that the
// process is ready, and after SIGTERM it exits on its own before the supervisor sends SIGKILL.
import type { Logger } from "pino";
import { onSigterm } from "./config.ts";
import { openFilesProblem } from "./open-files.ts";

export { resolveDrizzleFaster } from "./faster-imports.ts";
export { drainHttpServer, listen } from "./http-server.ts";
export { inheritedSocketSettings, listenAddressFrom } from "./inherited-socket.ts";
export { openLog } from "./log.ts";
export { neededOpenFiles, openFilesLimit, openFilesProblem } from "./open-files.ts";
export { type Round, startRounds } from "./rounds.ts";

/**
 * Milliseconds from SIGTERM. Ctrl-C ends an instance within 10 s: its processes have 7 s and PostgreSQL, which they
 * write to until they end, the other 3. A process exits by itself earlier, so that it closes its children and says in
 * its log what it was waiting for.
 */
export const stopLimits = { exitMs: 6_500, killMs: 7_000 } as const;

/**
 * Milliseconds that a process has which was replaced by another one: requests, streams and jobs under way may take that
 * long, because nobody waits for its exit. Idle connections stay open at first, so that clients leave by themselves.
 */
export const replacedLimits = { requestsMs: 300_000, idleMs: 10_000, killMs: 310_000 } as const;

/** Sent by the supervisor to a process that another one has replaced: it takes no more work, ends what it has, and exits. */
export const replacedMessage = { type: "replaced" } as const;

const isReplaced = (message: unknown): message is typeof replacedMessage =>
  typeof message === "object" && message !== null && "type" in message && message.type === replacedMessage.type;

/** Why a process stops. SIGINT: with the instance. */
export type StopReason = "SIGTERM" | "SIGINT" | "replaced";

/** Reads the settings. When they are invalid, prints what is wrong, without a stack, and exits with status 1. */
export function settingsOrExit<Settings>(read: () => Settings): Settings {
  const problems: string[] = [];
  const tried = <Read>(part: () => Read): Read | null => {
    try {
      return part();
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
      return null;
    }
  };
  const settings = tried(() => ({ read: read() }));
  tried(onSigterm);
  if (settings !== null && problems.length === 0) return settings.read;
  process.stderr.write(`${problems.join("\n")}\n`);
  process.exit(1);
}

/** Exits with status 1, and says what to do, when this process may open fewer files than that. */
export function requireOpenFiles(needed: number): void {
  settingsOrExit(() => {
    const problem = openFilesProblem(needed);
    if (problem !== null) throw new Error(problem);
  });
}

/** Sent to the supervisor when the process takes work. `rebuilding`: servers whose layers are lost, of the worker. */
export type ReadyMessage = { readonly type: "ready"; readonly rebuilding?: number };

/** Reports that the process takes work. */
export function reportReady(
  log: Logger,
  details: Readonly<Record<string, unknown>> & Pick<ReadyMessage, "rebuilding"> = {},
): void {
  log.info(details, "ready");
  // The supervisor waits for this message: the log level may suppress the line.
  const { rebuilding } = details;
  process.send?.({ type: "ready", ...(rebuilding !== undefined && { rebuilding }) } satisfies ReadyMessage);
}

/** Logs why the process could not start, and exits with status 1. */
export function exitOnFailure(log: Logger, error: unknown, reason?: string): never {
  log.fatal({ err: error }, reason ?? (error instanceof Error ? error.message : "the process could not start"));
  process.exit(1);
}

/**
 * On the first SIGTERM or SIGINT, or when the supervisor has replaced the process, runs `stop`, then exits: with status
 * 0, or 1 if `stop` resolved to false, rejected or took longer than `withinMs` after the signal. A process that was
 * replaced has as long as it needs until a signal arrives, and so has one that drains on SIGTERM (TOWPATH_SIGTERM).
 */
export function stopOnSignal(
  log: Logger,
  stop: (reason: StopReason) => Promise<unknown>,
  withinMs: number = stopLimits.exitMs,
): void {
  let isStopping = false;
  let isHurried = false;
  const hurry = () => {
    if (isHurried) return;
    isHurried = true;
    // A database that drops packets must not delay the exit; others find what is left undone.
    const giveUp = () => {
      log.error({ withinMs }, "could not stop in time");
      process.exit(1);
    };
    setTimeout(giveUp, withinMs).unref();
  };
  const end = async (reason: StopReason) => {
    if (reason !== "replaced") hurry();
    if (isStopping) return;
    isStopping = true;
    log.info({ reason }, "stopping");
    const isClean = await stop(reason).then(
      (result) => result !== false,
      (error: unknown) => {
        log.error({ err: error }, "could not stop cleanly");
        return false;
      },
    );
    process.exit(isClean ? 0 : 1);
  };
  // Whoever sends another one doesn't want to wait.
  process.on("SIGTERM", () => void end(onSigterm() === "drain" && !isStopping ? "replaced" : "SIGTERM"));
  process.on("SIGINT", () => void end("SIGINT"));
  process.on("message", (message) => {
    if (isReplaced(message)) void end("replaced");
  });
}
