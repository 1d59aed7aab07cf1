import { cloudEnvironment, type Limits, type ServerSpec } from "@towpath/runtime";
import type { StoredDeployment, StoredSecret } from "./deployment.store.ts";

/** Decrypts a stored secret. Throws if it can't; never returns an empty value instead. */
type DecryptSecret = (row: StoredSecret) => string;

/** A deployment can't be started; the message is for its owner. */
export class DeploymentUnusable extends Error {
  override readonly name = "DeploymentUnusable";
}

export type OpenedServer = { readonly server: ServerSpec; readonly secrets: Readonly<Record<string, string>> };

export type ServerSources = {
  /** URL template of servers with `{name}`. */
  readonly serverUrl: string;
  readonly limits: Limits;
  readonly decryptSecret: DecryptSecret;
};

/**
 * A deployment's server for the driver, and its secrets in clear.
 * @throws DeploymentUnusable if one can't be decrypted
 */
export function serverOfDeployment(deployment: StoredDeployment, sources: ServerSources): OpenedServer {
  const { pythonVersion, dependencies, code } = deployment.layers;
  const secrets = secretValues(deployment.secrets, sources.decryptSecret);
  const environment = cloudEnvironment(
    {
      serverUrl: sources.serverUrl.replace("{name}", deployment.slug),
      commitSha: deployment.commitSha,
      repository: deployment.repository,
      environment: deployment.environment,
    },
    secrets,
  );
  const { entrypoint } = deployment;
  const layers = { dependencies, code };
  const server = {
    layers,
    pythonVersion,
    entrypoint,
    environment,
    limits: sources.limits,
    network: "internet",
  } as const;
  return { server, secrets };
}

function secretValues(rows: readonly StoredSecret[], decrypt: DecryptSecret): Record<string, string> {
  return Object.fromEntries(
    rows.map((row) => {
      try {
        return [row.keyName, decrypt(row)];
      } catch (error) {
        throw new DeploymentUnusable(`The variable ${row.keyName} can't be decrypted. Set it again.`, { cause: error });
      }
    }),
  );
}
