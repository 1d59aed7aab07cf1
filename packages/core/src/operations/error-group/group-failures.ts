import { sql } from "drizzle-orm";
import { authorizePlatform } from "../../authorize/index.ts";
import type { Call } from "../../context/index.ts";
import { causeOf } from "./cause-of.ts";
import type { OnGroupChange } from "./error-change.ts";
import { keepTallies } from "./keep-tallies.ts";
import { takeFailures } from "./take-failures.ts";
import { tallyUp } from "./tally.ts";

/** How long a server's lines may arrive after the row of their call. */
const settleMs = 5000;

/**
 * Counts failed calls of the request log in their groups, each exactly once: the transaction that counts a failure
 * takes it off the list (CAP-6). Workers take turns; if another one is at it, returns 0.
 *
 * @returns the number of taken failures. Call again at once while it is not 0.
 */
export async function groupFailures({ ctx, input }: Call<{ readonly onGroupChange: OnGroupChange }>): Promise<number> {
  authorizePlatform(ctx);
  return ctx.db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ mine: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(hashtext('towpath_group_failures')) AS mine`,
    );
    if (!rows[0]?.mine) return 0;
    const { taken, failures } = await takeFailures(tx, new Date(ctx.clock.now().getTime() - settleMs));
    const caused = failures.flatMap((call) => {
      const cause = causeOf(call, call.lines);
      return cause ? [{ call, cause }] : [];
    });
    const changes = await keepTallies(tx, tallyUp(caused), ctx.clock.now());
    if (changes.length > 0) await input.onGroupChange(tx, changes);
    return taken;
  });
}
