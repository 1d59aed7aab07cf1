/** A place in the code of a server. `isOwn`: in the server's own code, whose paths are relative to its directory. */
export type StackFrame = {
  readonly file: string;
  readonly line: number;
  readonly name: string;
  readonly isOwn: boolean;
};

/** What a server was doing that was neither ready nor had failed in time. */
export type LateStart = {
  /**
   * `starved`: it was ready to run, and the host's processors were busy with others. `busy`: it used its processor time.
   * `waiting`: it used little, though the host had more.
   */
  readonly activity: "starved" | "busy" | "waiting";
  /** Time that it was given. */
  readonly afterMs: number;
  /** Processor time that it used. */
  readonly processorMs: number;
  /** Where its own code stood, and then what that had called, the innermost call last; empty if that isn't known. */
  readonly stack: readonly StackFrame[];
};
