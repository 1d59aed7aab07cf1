import { createCallers } from "../callers.ts";
import { endpointOf, privateServer, type Rig, redeployEcho } from "../rig.ts";
import type { Row } from "../row.ts";
import { openStandingStreams } from "../streams.ts";
import { noFailures, rowOf, underLoad } from "../under-load.ts";

/**
 * New versions of an open and a private server go live one after the other while clients call and stream; no call may
 * fail, and no stream may end early.
 */
export async function redeployUnderLoad(rig: Rig, redeploys: number): Promise<Row> {
  const [server = ""] = rig.servers;
  const callers = await createCallers(rig);
  const targets = [...callers.targets, { url: endpointOf(rig, server), tool: "watch" as const }];
  const fault = async () => {
    const streams = await openStandingStreams(targets);
    for (let version = 1; version <= redeploys; version++)
      await redeployEcho(rig, version % 4 === 0 ? privateServer : server, `version ${version}`);
    return { open: streams.open, ended: streams.stop().length };
  };
  const options = { servers: [server], targets, clientsPerEra: 1 + targets.length };
  const load = await underLoad(rig, "redeploys", fault, options).finally(() => callers.stop());
  const { open, ended } = load.result;
  return rowOf(load, {
    scenario: `${redeploys} redeploys`,
    times: redeploys,
    claims: (totals) => ({
      ...noFailures(totals),
      "streams that were open at the beginning stay open": ended === 0 && open === targets.length,
    }),
  });
}
