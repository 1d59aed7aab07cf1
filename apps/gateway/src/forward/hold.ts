import type { ServerResponse } from "node:http";
import { Refusal } from "../refusal.ts";

/**
 * Waits for a starting server on behalf of one request. Null when the client leaves meanwhile; the start goes on,
 * as others may wait for it too.
 *
 * @throws Refusal 504 after `holdMs`, and whatever the start fails with
 */
export async function withinHold<T>(start: Promise<T>, holdMs: number, response: ServerResponse): Promise<T | null> {
  const { promise: given, resolve, reject } = Promise.withResolvers<T | null>();
  const leave = () => resolve(null);
  const timer = setTimeout(() => {
    const seconds = Math.round(holdMs / 1000);
    reject(
      new Refusal(
        "start_timeout",
        `The server has not started within ${seconds} s. Its log in the dashboard may say why.`,
        {
          "retry-after": "5",
        },
      ),
    );
  }, holdMs);
  response.once("close", leave);
  start.then(resolve, reject);
  try {
    return await given;
  } finally {
    clearTimeout(timer);
    response.off("close", leave);
  }
}
