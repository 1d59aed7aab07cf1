/** Something can't be run. Never thrown for what the command itself does. */
export class SandboxError extends Error {
  /**
   * `isolation_unavailable`, `network_unavailable`: this host can't; the message is for the operator.
   * `platform_ended`: the parent of all sandboxes has ended meanwhile; the next attempt starts another one.
   * `layer_unavailable`, `python_unavailable`, `data_unavailable`: a part of the server is missing; the message is for its owner.
   * `no_room`: a scheduler found no place for it; the message is for its owner, too.
   * `unreachable`: an outage of what runs it, such as a cluster's API; the same may work later.
   * `invalid_spec`, `setup_failed`: the message may contain paths and output of the host, so don't show it to users.
   */
  readonly code:
    | "isolation_unavailable"
    | "network_unavailable"
    | "platform_ended"
    | "layer_unavailable"
    | "python_unavailable"
    | "data_unavailable"
    | "no_room"
    | "unreachable"
    | "invalid_spec"
    | "setup_failed";

  constructor(code: SandboxError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SandboxError";
    this.code = code;
  }
}

/** A build step's output is not an ordinary file, or too large. */
export class UnreadableOutput extends Error {
  override readonly name = "UnreadableOutput";
  readonly code = "unreadable";
}
