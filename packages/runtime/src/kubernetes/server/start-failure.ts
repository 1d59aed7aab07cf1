import { SandboxError } from "../../port/errors.ts";
import type { StartResult } from "../../port/servers.ts";
import { KubernetesError } from "../api/client.ts";
import { lateStart, type PodEnd } from "../pod/pod-end.ts";

/** What a start reports that ended before the server was ready. */
export function failureOf({ exit, failure, late, layer }: PodEnd, stack: readonly string[]): StartResult {
  if (layer !== null) throw layerError(layer.code, new Error(layer.detail));
  if (late !== null) return { ok: false, cause: "timeout", status: null, exit, late: lateStart(late, stack) };
  return { ok: false, cause: failure === null ? "exited" : "harness", status: failure, exit };
}

const layerProblems = {
  not_found: "The result of its build is no longer stored.",
  digest_mismatch: "The stored result of its build is damaged.",
} as const;

/** Why a layer didn't arrive, for the server's owner if that can be changed by a build. */
export function layerError(code: keyof typeof layerProblems | "unavailable", cause: Error): SandboxError {
  if (code !== "unavailable") return new SandboxError("layer_unavailable", layerProblems[code], { cause });
  const message = `The pod of the server did not get its layers: ${cause.message}`;
  return new SandboxError("setup_failed", message, { cause });
}

/** @param message why */
export const noRoom = (message: string, cause?: unknown) =>
  new SandboxError("no_room", `The cluster has no room for it: ${message}`, { cause });

/** Why the API server refused a pod. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof KubernetesError)) return error;
  if (error.status === 403 && error.message.includes("exceeded quota"))
    return noRoom("the quota of its namespace is used up.", error);
  const refused = `Kubernetes refused the pod of a server: ${error.message}`;
  return new SandboxError("setup_failed", refused, { cause: error });
}
