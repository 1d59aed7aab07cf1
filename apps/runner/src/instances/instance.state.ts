export type InstanceState = "starting" | "ready" | "frozen" | "stopping" | "stopped" | "crashed";

/** Allowed transitions. Ended instances never change; a new start is a new instance. */
const transitions: Readonly<Record<InstanceState, readonly InstanceState[]>> = {
  starting: ["ready", "stopping", "stopped", "crashed"],
  ready: ["frozen", "stopping", "stopped", "crashed"],
  frozen: ["ready", "stopping", "stopped", "crashed"],
  stopping: ["stopped"],
  stopped: [],
  crashed: [],
};

export const mayBecome = (from: InstanceState, to: InstanceState): boolean => transitions[from].includes(to);

export const isEnded = (state: InstanceState): boolean => transitions[state].length === 0;

/** The states from which an instance may become `to`. */
export function expectedBefore(to: InstanceState): InstanceState[] {
  return (Object.keys(transitions) as InstanceState[]).filter((from) => mayBecome(from, to));
}
