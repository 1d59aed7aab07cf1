import type { Rig } from "../rig.ts";
import type { Row } from "../row.ts";
import { clockJumps } from "./clock-jumps.ts";
import { databaseAway } from "./database-away.ts";
import { diskFull } from "./disk-full.ts";
import { hostileTenant } from "./hostile-tenant.ts";
import { killProcess } from "./kill-process.ts";
import { manyServers } from "./many-servers.ts";
import { redeployUnderLoad } from "./redeploys.ts";

/** In this order: what breaks least comes first. */
export const scenarios: Readonly<Record<string, (rig: Rig) => Promise<Row>>> = {
  "kill-web": (rig) => killProcess(rig, "web"),
  "kill-worker": (rig) => killProcess(rig, "worker"),
  "kill-postgres": (rig) => killProcess(rig, "postgres"),
  "kill-gateway": (rig) => killProcess(rig, "gateway"),
  "kill-runner": (rig) => killProcess(rig, "runner"),
  "database-away": databaseAway,
  "disk-full": diskFull,
  "clock-jumps": clockJumps,
  redeploys: redeployUnderLoad,
  "many-servers": manyServers,
  "hostile-tenant": hostileTenant,
};
