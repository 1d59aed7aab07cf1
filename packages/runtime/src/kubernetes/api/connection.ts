import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

/** Where the API is, and how this process proves who it is. */
export type Connection = {
  /** Base URL. */
  readonly server: string;
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly rejectUnauthorized?: boolean;
  };
  /** The current token; null with a client certificate. A cluster replaces tokens that it mounts about each hour. */
  token(): Promise<string | null>;
};

const accountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Where the settings say that the API is. */
export type ApiLocation =
  /** In the cluster: as the pod of this process knows it, with its service account. */
  | { readonly kind: "account"; readonly host: string; readonly port: string }
  /** `path`: a kubeconfig. */
  | { readonly kind: "kubeconfig"; readonly path: string };

/** @throws an Error that says what is missing or wrong */
export const connectionOf = (location: ApiLocation): Promise<Connection> =>
  location.kind === "kubeconfig" ? configuredConnection(location.path) : accountConnection(location);

/** @param directory where the account's files are mounted */
export async function accountConnection(
  { host, port }: { readonly host: string; readonly port: string },
  directory = accountDirectory,
): Promise<Connection> {
  const ca = await readFile(`${directory}/ca.crt`, "utf8").catch(() => null);
  if (ca === null)
    throw new Error(
      "This pod has no token for the Kubernetes API. Give it a service account with the rights of the documentation, and mount the token (automountServiceAccountToken: true).",
    );
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { server, tls: { ca }, token: () => readToken(`${directory}/token`) };
}

const clusterSchema = z.object({
  server: z.url({ protocol: /^https?$/ }),
  "certificate-authority": z.string().optional(),
  "certificate-authority-data": z.base64().optional(),
  "insecure-skip-tls-verify": z.boolean().optional(),
});
const userSchema = z.object({
  token: z.string().optional(),
  tokenFile: z.string().optional(),
  "client-certificate": z.string().optional(),
  "client-certificate-data": z.base64().optional(),
  "client-key": z.string().optional(),
  "client-key-data": z.base64().optional(),
  exec: z.unknown().optional(),
  "auth-provider": z.unknown().optional(),
});
const configSchema = z.object({
  "current-context": z.string(),
  contexts: z.array(z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string() }) })),
  clusters: z.array(z.object({ name: z.string(), cluster: clusterSchema })),
  users: z.array(z.object({ name: z.string(), user: userSchema })),
});

/** The connection of a kubeconfig's current context. @throws an Error that says what is wrong with the file */
export async function configuredConnection(path: string): Promise<Connection> {
  const invalid = (what: string, cause?: unknown) => new Error(`The kubeconfig ${path} ${what}.`, { cause });
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw invalid(`can't be read (${error.code})`, error);
  });
  const parsed = configSchema.safeParse(parsedYaml(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`isn't valid at ${issue?.path.join(".") || "its beginning"}: ${issue?.message}`);
  }
  const config = parsed.data;
  const pick = <Entry extends { name: string }>(kind: string, list: readonly Entry[], name: string): Entry => {
    const found = list.find((entry) => entry.name === name);
    if (found === undefined) throw invalid(`has no ${kind} named "${name}"`);
    return found;
  };
  const { context } = pick("context", config.contexts, config["current-context"]);
  const { cluster } = pick("cluster", config.clusters, context.cluster);
  const { user } = pick("user", config.users, context.user);
  if (user.exec !== undefined || user["auth-provider"] !== undefined)
    throw invalid(
      "gets its credentials from another program, which isn't supported: use a token or a client certificate",
    );
  const file = (name: string) => resolve(dirname(path), name);
  const content = async (data: string | undefined, name: string | undefined) =>
    data !== undefined ? Buffer.from(data, "base64").toString() : name && (await readFile(file(name), "utf8"));
  const ca = await content(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const cert = await content(user["client-certificate-data"], user["client-certificate"]);
  const key = await content(user["client-key-data"], user["client-key"]);
  const { token = null, tokenFile } = user;
  return {
    server: cluster.server,
    tls: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(cluster["insecure-skip-tls-verify"] === true && { rejectUnauthorized: false }),
    },
    token: async () => token ?? (tokenFile === undefined ? null : await readToken(file(tokenFile))),
  };
}

const readToken = async (path: string) => (await readFile(path, "utf8")).trim();

function parsedYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}
