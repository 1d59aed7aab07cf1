import type { Rig } from "../rig.ts";
import type { Row } from "../row.ts";
import { killProcess } from "./kill-process.ts";

/** In this order: what breaks least comes first. */
export const scenarios: Readonly<Record<string, (rig: Rig) => Promise<Row>>> = {
  "kill-web": (rig) => killProcess(rig, "web"),
  "kill-worker": (rig) => killProcess(rig, "worker"),
  "kill-postgres": (rig) => killProcess(rig, "postgres"),
  "kill-gateway": (rig) => killProcess(rig, "gateway"),
  "kill-runner": (rig) => killProcess(rig, "runner"),
};
