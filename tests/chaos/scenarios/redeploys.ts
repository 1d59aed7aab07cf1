import { type Rig, redeployEcho } from "../rig.ts";
import { problemsOf, type Row } from "../row.ts";
import { errorsInWords, underLoad } from "../under-load.ts";

const redeploys = 30;

/** New versions go live one after the other while clients call; no call may fail. */
export async function redeployUnderLoad(rig: Rig): Promise<Row> {
  const server = rig.servers[0] ?? "";
  const fault = async () => {
    for (let version = 1; version <= redeploys; version++) await redeployEcho(rig, server, `version ${version}`);
  };
  const { totals, lost } = await underLoad(rig, "redeploys", fault, { servers: [server] });
  const { calls, failed } = totals;
  return {
    scenario: `${redeploys} redeploys`,
    times: redeploys,
    calls,
    failed,
    lost,
    recoveryMs: [],
    problems: problemsOf({
      "calls do not notice": failed === 0,
      "no answered call is missing from the log": lost <= 0,
    }),
    note: errorsInWords(totals),
  };
}
