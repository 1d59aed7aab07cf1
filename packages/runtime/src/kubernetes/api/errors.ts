import { SandboxError } from "../../port/errors.ts";

/** A request that the API server refused. */
export class KubernetesError extends Error {
  override readonly name = "KubernetesError";
  /** HTTP status. */
  readonly status: number;
  /** One word, such as `AlreadyExists`. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** Of an API server that can't be reached, or can't reach what stores its objects. */
export const unreachable = (cause: unknown) =>
  new SandboxError("unreachable", `The Kubernetes API can't be reached: ${messageOf(cause)}`, { cause });

const messageOf = (error: unknown) => (error instanceof Error ? error.message || error.name : String(error));

/** `answer`: a Status object. */
export function errorOf(status: number, answer: unknown, text = ""): KubernetesError {
  const { reason = "", message = text } = (answer ?? {}) as { reason?: string; message?: string };
  return new KubernetesError(status, reason, message || `The Kubernetes API answered ${status}.`);
}

/** Of an answer with this body, which may be none of Kubernetes. */
export const errorOfText = (status: number, text: string) => errorOf(status, parsed(text), text);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
