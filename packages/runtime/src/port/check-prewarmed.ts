import { SandboxError } from "./errors.ts";
import type { InstanceSpec, PrewarmSpec } from "./servers.ts";

/**
 * For drivers: refuses a server of another organization, or of another kind than an interpreter was prewarmed for. Pure.
 *
 * @throws SandboxError `invalid_spec`
 */
export function checkPrewarmed(spec: PrewarmSpec, organizationId: string, { server }: InstanceSpec): void {
  const { limits } = server;
  const fits =
    spec.organizationId === organizationId &&
    spec.dependencies === server.layers.dependencies &&
    spec.pythonVersion === server.pythonVersion &&
    spec.network === server.network &&
    spec.limits.tmpBytes === limits.tmpBytes &&
    spec.limits.fileBytes === limits.fileBytes &&
    server.inspectable !== true &&
    server.dataVolume === undefined;
  if (!fits) throw new SandboxError("invalid_spec", "This interpreter was prewarmed for another kind of server.");
}
