/** The platform could not set up a sandbox. Never thrown for what the command inside does. */
export class SandboxError extends Error {
  readonly code: "isolation_unavailable" | "network_unavailable" | "invalid_spec" | "setup_failed";

  constructor(code: SandboxError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SandboxError";
    this.code = code;
  }
}
