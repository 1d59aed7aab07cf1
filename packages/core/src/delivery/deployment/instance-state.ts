/** `asleep`: frozen in memory. `stopped`: no process. Both wake with the next call. */
export type InstanceState = "awake" | "asleep" | "starting" | "stopped" | "crashed";

const states: Readonly<Record<string, InstanceState>> = {
  starting: "starting",
  ready: "awake",
  frozen: "asleep",
  crashed: "crashed",
};

/** What users read of a state of the `instance` table. */
export const instanceState = (stored: string): InstanceState => states[stored] ?? "stopped";
