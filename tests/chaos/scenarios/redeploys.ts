import { type Rig, redeployEcho } from "../rig.ts";
import type { Row } from "../row.ts";
import { rowOf, underLoad } from "../under-load.ts";

const redeploys = 30;

/** New versions go live one after the other while clients call; no call may fail. */
export async function redeployUnderLoad(rig: Rig): Promise<Row> {
  const server = rig.servers[0] ?? "";
  const fault = async () => {
    for (let version = 1; version <= redeploys; version++) await redeployEcho(rig, server, `version ${version}`);
  };
  const load = await underLoad(rig, "redeploys", fault, { servers: [server] });
  return rowOf(load, { scenario: `${redeploys} redeploys`, times: redeploys });
}
