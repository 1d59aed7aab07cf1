import { stat } from "node:fs/promises";
import {
  cloudEnvironment,
  harnessDirectory,
  type Limits,
  type ResolvedPython,
  resolvePython,
  type SandboxSpec,
  serverSandboxSpec,
} from "@towpath/runtime";
import type { StoredDeployment, StoredSecret } from "./deployment.store.ts";

/** Turns a stored secret into its value; throws when it cannot. Never an empty value in the place of an unreadable one. */
export type DecryptSecret = (row: StoredSecret) => string;

/** Why a deployment cannot be started, in words for its owner. */
export class DeploymentUnusable extends Error {
  override readonly name = "DeploymentUnusable";
}

export type OpenedServer = { readonly sandbox: SandboxSpec; readonly secrets: Readonly<Record<string, string>> };

export type ServerSources = {
  /** Folder with `deps/<digest>` and `code/<digest>`. */
  readonly artifacts: string;
  /** URL template of servers with `{name}`. */
  readonly serverUrl: string;
  readonly uv: string;
  readonly limits: Limits;
  readonly decryptSecret: DecryptSecret;
};

/** The sandbox of a deployment's server, and the secrets in it, in clear. Throws DeploymentUnusable when layers, Python or a secret are missing. */
export async function serverOfDeployment(deployment: StoredDeployment, sources: ServerSources): Promise<OpenedServer> {
  const { layers } = deployment;
  const python = await pythonOf(layers.pythonVersion, sources.uv);
  const dependencies = await layer(`${sources.artifacts}/deps/${layers.dependencies}`);
  const code = await layer(`${sources.artifacts}/code/${layers.code}`);
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
  const sandbox = serverSandboxSpec({
    python,
    dependencies,
    code,
    harness: harnessDirectory,
    entrypoint: deployment.entrypoint,
    environment,
    limits: sources.limits,
  });
  return { sandbox, secrets };
}

async function pythonOf(version: string, uv: string): Promise<ResolvedPython> {
  const minor = version.split(".").slice(0, 2).join(".");
  const python = (await resolvePython({ uv, version })) ?? (await resolvePython({ uv, version: minor }));
  if (python === null)
    throw new DeploymentUnusable(`Python ${version}, for which this was built, is not on this machine. Redeploy it.`);
  return python;
}

async function layer(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    throw new DeploymentUnusable("The result of its build is no longer stored. Redeploy it.", { cause: error });
  }
}

function secretValues(rows: readonly StoredSecret[], decrypt: DecryptSecret): Record<string, string> {
  return Object.fromEntries(
    rows.map((row) => {
      try {
        return [row.keyName, decrypt(row)];
      } catch (error) {
        throw new DeploymentUnusable(`The secret ${row.keyName} cannot be decrypted.`, { cause: error });
      }
    }),
  );
}
