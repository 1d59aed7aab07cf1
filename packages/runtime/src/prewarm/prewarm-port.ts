import type { InstanceSpec, Limits, Network, OutputSink, StartResult } from "../port.ts";

// The optional part of the driver port that shortens starts (decision 024).

/** An interpreter to prepare. It can become any server of the organization with the same layer, Python and network. */
export type PrewarmSpec = {
  /** Unique among those that wait, at most 12 characters of [a-z0-9]. */
  readonly name: string;
  readonly organizationId: string;
  /** Digest of the dependency layer. */
  readonly dependencies: string;
  /** Such as `3.11.7`. */
  readonly pythonVersion: string;
  readonly network: Network;
  /** While it imports and waits. Of these, `tmpBytes` and `fileBytes` must be those of the server. */
  readonly limits: Limits;
  readonly startTimeoutMs: number;
};

/**
 * Why a waiting interpreter did not become the server, which then had an ordinary start.
 *
 * In the same sandbox: `environment` (a variable that imports read has another value), `shadowed` (the code has a module
 * of the same name as an imported one), `dotenv` (FastMCP reads the code's .env while it is imported).
 * In another one: `memory` (it already uses more than the server may), `code_size`, `ended` (it died, or a step failed).
 */
export const prewarmObstacles = ["environment", "shadowed", "dotenv", "memory", "code_size", "ended"] as const;
export type PrewarmObstacle = (typeof prewarmObstacles)[number];

/** A frozen interpreter that has imported the frameworks of a dependency layer and knows nothing of any server. */
export type Prewarmed = {
  /**
   * Makes it the server, once: with its code, environment and limits. If that is impossible, it is ended and the result
   * says why; the caller then starts the server with `start`. Output from before the claim is passed on now.
   * @throws SandboxError `invalid_spec` if the server is another organization's or needs another interpreter;
   *   `layer_unavailable`
   */
  claim(
    organizationId: string,
    spec: InstanceSpec,
    onOutput: OutputSink,
  ): Promise<StartResult | { obstacle: PrewarmObstacle }>;
  memoryBytes(): Promise<number | null>;
  /** Ends it; does nothing once it has been claimed. */
  end(): Promise<void>;
  /** Resolves when it has ended, before or after a claim. */
  readonly ended: Promise<void>;
};

export type PrewarmResult =
  | { readonly ok: true; readonly prewarmed: Prewarmed }
  /** `isFinal`: it would fail in the same way again. */
  | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };
