import { cloudEnvironment, type Limits, type ServerSpec } from "@towpath/runtime";
import type { CallerValues, SecretBox, StoredSecrets } from "@towpath/secrets";
import type { StoredDeployment } from "./deployment.store.ts";

/** A deployment can't be started; the message is for its owner. */
export class DeploymentUnusable extends Error {
  override readonly name = "DeploymentUnusable";
}

export type OpenedServer = { readonly server: ServerSpec; readonly secrets: Readonly<Record<string, string>> };

export type ServerSources = {
  /** URL template of servers with `{name}`. */
  readonly serverUrl: string;
  readonly limits: Limits;
  readonly box: SecretBox;
};

/**
 * A deployment's server for the driver, and its secrets in clear. `own`: the values of the caller whom alone it serves,
 * in place of the deployment's.
 * @throws DeploymentUnusable if one can't be decrypted
 */
export function serverOfDeployment(
  deployment: StoredDeployment,
  sources: ServerSources,
  own: CallerValues | null = null,
): OpenedServer {
  const shared = secretValues(deployment.stored, sources.box);
  const secrets = own ? { ...shared, ...secretValues(own.stored, sources.box) } : shared;
  const environment = cloudEnvironment(
    {
      serverUrl: sources.serverUrl.replace("{name}", deployment.slug),
      commitSha: deployment.commitSha,
      repository: deployment.repository,
      environment: deployment.environment,
    },
    secrets,
  );
  const server = { ...interpreterOf(deployment, sources.limits), ...deployment.program, environment };
  // Callers would share it.
  return { server: { ...server, ...(own ? {} : keptDataOf(deployment)) }, secrets };
}

/** Previews get none: they would change what production keeps (BLD-19). */
export function keptDataOf({
  keepsData,
  environment,
  projectId,
}: Pick<StoredDeployment, "keepsData" | "environment" | "projectId">): Pick<ServerSpec, "dataVolume"> {
  return keepsData && environment === "production" ? { dataVolume: projectId } : {};
}

/** What is known of a deployment's server without its environment. */
export function interpreterOf(
  { layers: { pythonVersion, dependencies, code } }: Pick<StoredDeployment, "layers">,
  limits: Limits,
): Pick<ServerSpec, "layers" | "pythonVersion" | "limits" | "network"> {
  return { layers: { dependencies, code }, pythonVersion, limits, network: "internet" };
}

function secretValues({ secrets, dataKey }: StoredSecrets, box: SecretBox): Record<string, string> {
  return Object.fromEntries(
    secrets.map((row) => {
      try {
        return [row.keyName, box.decrypt(row, dataKey)];
      } catch (error) {
        throw new DeploymentUnusable(`The variable ${row.keyName} can't be decrypted. Set it again.`, { cause: error });
      }
    }),
  );
}
