import { z } from "zod";

/** `asleep`: frozen in memory. `stopped`: no process. Both wake with the next call. */
export const instanceStateSchema = z.enum(["awake", "asleep", "starting", "stopped", "crashed"]);
export type InstanceState = z.infer<typeof instanceStateSchema>;

const states: Readonly<Record<string, InstanceState>> = {
  starting: "starting",
  ready: "awake",
  frozen: "asleep",
  crashed: "crashed",
};

/** What users read of a state of the `instance` table. */
export const instanceState = (stored: string): InstanceState => states[stored] ?? "stopped";
