import { request } from "node:http";
import { json } from "node:stream/consumers";
import { z } from "zod";

const answerWithinMs = 5_000;

const reportSchema = z.object({
  problems: z.array(z.string()),
  exceptions: z.array(z.object({ setting: z.string(), meaning: z.string() })),
});

/**
 * What the operator must know about the isolation of servers on this machine: what is refused and what to do, and each
 * exception that a setting makes. The operator should learn it at the start, not from a failed build. Empty when there
 * is nothing to say; one line when the runner does not answer.
 */
export async function isolationNotice(runnerSocket: string): Promise<readonly string[]> {
  try {
    const { problems, exceptions } = reportSchema.parse(await askRunner(runnerSocket));
    return [...problems, ...exceptions.map(({ setting, meaning }) => `${setting}: ${meaning}`)];
  } catch {
    return ["The runner did not report how servers are isolated here. Look in its log."];
  }
}

function askRunner(socketPath: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path: "/v1/isolation", agent: false }, (response) => {
      json(response).then(resolve, reject);
    });
    call.setTimeout(answerWithinMs, () => call.destroy(new Error("no answer")));
    call.once("error", reject);
    call.end();
  });
}
