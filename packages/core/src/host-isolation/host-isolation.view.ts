export type ProtectionName =
  | "filesystem"
  | "users"
  | "network"
  | "memory"
  | "cpu"
  | "processes"
  | "disk"
  | "system-calls";

/** `off`: tested, and it does not hold. `untried`: not tested. */
export type Protection = {
  readonly name: ProtectionName;
  readonly state: "on" | "off" | "untried";
  /** What the test found when it does not hold; else "". */
  readonly detail: string;
};

/** Which protections are in force where servers run. */
export type HostIsolationView = {
  /** When the runner last reported; null when it never has. */
  readonly reportedAt: string | null;
  /** False when the runner has missed several reports: the rest describes `reportedAt`. */
  readonly current: boolean;
  readonly trusted: boolean;
  readonly protections: readonly Protection[];
  readonly exceptions: readonly { readonly setting: string; readonly meaning: string }[];
  readonly problems: readonly string[];
};

/** For members whose servers run there: the protections known to be missing, without details of the host. */
export type IsolationWarning = {
  readonly missing: readonly ProtectionName[];
  /** Servers and builds are refused because of it. */
  readonly refused: boolean;
};
