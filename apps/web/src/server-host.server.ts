import { notFound, TowpathError } from "@towpath/core/errors";
import type { ServerHost } from "@towpath/core/ports";
import { createRunnerClient, type RunnerAddress, RunnerError, type RunnerErrorCode } from "@towpath/runner-api";

/** Longer than the runner's own limits for a place and a start. */
const timeoutMs = 150_000;

/** Failures of the server itself: a retry would fail in the same way. */
const ownFailures: ReadonlySet<RunnerErrorCode> = new Set([
  "start_failed",
  "layers_lost",
  "ended",
  "no_answer",
  "crash_backoff",
]);

/** Starts servers at the runner of this address. */
export function openServerHost(address: RunnerAddress): ServerHost & { close(): Promise<void> } {
  const runner = createRunnerClient(address, { timeoutMs });
  return {
    async verify(deploymentId) {
      try {
        await runner.verify(deploymentId);
      } catch (error) {
        if (error instanceof RunnerError) throw refusalOf(error);
        throw error;
      }
    },
    close: () => runner.close(),
  };
}

/** The error for the person who makes the version live. */
function refusalOf(error: RunnerError): TowpathError {
  if (error.code === "not_found") return notFound("deployment");
  const message = ended(error.message);
  if (ownFailures.has(error.code)) {
    return new TowpathError(
      "conflict",
      `This version is no longer running: ${message} Your live version is unaffected. Look at the version's server log, or rebuild its commit.`,
      { cause: error },
    );
  }
  return new TowpathError(
    "upstream_unavailable",
    `This version's server can't start now: ${message} Your live version is unaffected. Try again in a minute.`,
    { cause: error },
  );
}

const ended = (sentence: string) => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);
