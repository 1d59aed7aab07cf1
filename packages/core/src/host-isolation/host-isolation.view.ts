export type ProtectionName =
  | "filesystem"
  | "users"
  | "network"
  | "memory"
  | "cpu"
  | "processes"
  | "disk"
  | "system-calls";

/** `off`: tried, and it does not hold. `untried`: nothing was found out about it. */
export type Protection = {
  readonly name: ProtectionName;
  readonly state: "on" | "off" | "untried";
  /** What was found where it does not hold; else "". */
  readonly detail: string;
};

/** Which protections are in force where servers run. */
export type HostIsolationView = {
  /** The last word of the runner; null: it never said one. */
  readonly reportedAt: string | null;
  /** False: the runner has said nothing for longer than it does when it runs; what follows was true then. */
  readonly current: boolean;
  readonly trusted: boolean;
  readonly protections: readonly Protection[];
  readonly exceptions: readonly { readonly setting: string; readonly meaning: string }[];
  readonly problems: readonly string[];
};

/** For everybody whose servers run there: which protections are known to be missing, without details of the host. */
export type IsolationWarning = {
  readonly missing: readonly ProtectionName[];
  /** Servers and builds are refused because of it. */
  readonly refused: boolean;
};
