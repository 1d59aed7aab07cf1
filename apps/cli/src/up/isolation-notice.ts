import { createRunnerClient } from "@towpath/runner-api";

const answerWithinMs = 5_000;

/**
 * What the operator must know about the isolation of servers on this machine: what is refused and what to do, and each
 * exception that a setting makes. The operator should learn it at the start, not from a failed build. Empty when there
 * is nothing to say; one line when the runner does not answer.
 */
export async function isolationNotice(runnerSocket: string): Promise<readonly string[]> {
  const runner = createRunnerClient({ kind: "unix", path: runnerSocket }, { timeoutMs: answerWithinMs });
  try {
    const { problems, exceptions } = await runner.isolation();
    return [...problems, ...exceptions.map(({ setting, meaning }) => `${setting}: ${meaning}`)];
  } catch {
    return ["The runner did not report how servers are isolated here. Look in its log."];
  } finally {
    await runner.close();
  }
}
