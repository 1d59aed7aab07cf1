import { readFileSync } from "node:fs";
import { z } from "zod";

/** An issuer of workloads' tokens whose keys are where the operator says, also in a private network. */
export type OperatorIssuer = {
  /** `iss` of its tokens. */
  readonly issuer: string;
  readonly keysUrl: string;
  /** Path of the certificates (PEM) that its host is trusted by; null: the public ones. */
  readonly caFile: string | null;
  /** Path of a token that is sent along, read each time as it may be renewed. */
  readonly tokenFile: string | null;
};

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === "" ? undefined : value), schema.optional());
const path = optional(z.string().startsWith("/", "must be an absolute path"));

const settings = z.object({
  /** `iss` of the tokens; `cluster`: that of the Kubernetes cluster in which this process is a pod. */
  TOWPATH_WORKLOAD_ISSUER: optional(
    z.string().refine((text) => text === "cluster" || URL.canParse(text), "must be cluster, or the URL of an issuer"),
  ),
  TOWPATH_WORKLOAD_ISSUER_KEYS: optional(z.url({ protocol: /^https?$/, error: "must be an http or https URL" })),
  TOWPATH_WORKLOAD_ISSUER_CA: path,
  TOWPATH_WORKLOAD_ISSUER_TOKEN: path,
  /** Set by the cluster in each pod. */
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  KUBERNETES_SERVICE_PORT: z.string().optional(),
});
type Values = z.output<typeof settings>;

/**
 * Settings of the processes that read keys of issuers. Null: the operator names none.
 *
 * @param directory where a pod has the files of its service account
 */
export const operatorIssuerSchema = (directory = "/var/run/secrets/kubernetes.io/serviceaccount") =>
  settings
    .superRefine((values, problems) => check(values, problems, directory))
    .transform((values) => operatorIssuerFrom(values, directory));

/** What is wrong with the settings together, and with the files that they name. */
function check(values: Values, problems: z.RefinementCtx, directory: string): void {
  const problem = (name: string, message: string) => void problems.addIssue({ code: "custom", path: [name], message });
  const { TOWPATH_WORKLOAD_ISSUER: issuer, TOWPATH_WORKLOAD_ISSUER_KEYS: keys } = values;
  const own = ["TOWPATH_WORKLOAD_ISSUER_KEYS", "TOWPATH_WORKLOAD_ISSUER_CA", "TOWPATH_WORKLOAD_ISSUER_TOKEN"] as const;
  if (issuer === undefined || issuer === "cluster") {
    for (const name of own.filter((each) => values[each] !== undefined))
      problem(name, "is for an issuer that TOWPATH_WORKLOAD_ISSUER names by its URL");
  } else if (keys === undefined)
    problem(
      "TOWPATH_WORKLOAD_ISSUER_KEYS",
      "must be the address of the issuer's keys, such as {server}/openid/v1/jwks",
    );
  if (issuer === "cluster") {
    const isPod = values.KUBERNETES_SERVICE_HOST && textOf(`${directory}/ca.crt`) !== null;
    if (!isPod || issuerOfToken(`${directory}/token`) === null)
      problem("TOWPATH_WORKLOAD_ISSUER", "is cluster, but this process is no pod with a token of its service account");
  }
  for (const name of own.slice(1)) {
    const file = values[name];
    if (file !== undefined && textOf(file) === null) problem(name, `names a file that can't be read: ${file}`);
  }
}

function operatorIssuerFrom(values: Values, directory: string): OperatorIssuer | null {
  const { TOWPATH_WORKLOAD_ISSUER: issuer, KUBERNETES_SERVICE_HOST: host = "" } = values;
  if (issuer === undefined) return null;
  if (issuer === "cluster") {
    const server = `https://${host.includes(":") ? `[${host}]` : host}:${values.KUBERNETES_SERVICE_PORT ?? "443"}`;
    return {
      issuer: issuerOfToken(`${directory}/token`) ?? "",
      keysUrl: `${server}/openid/v1/jwks`,
      caFile: `${directory}/ca.crt`,
      tokenFile: `${directory}/token`,
    };
  }
  return {
    issuer,
    keysUrl: values.TOWPATH_WORKLOAD_ISSUER_KEYS ?? "",
    caFile: values.TOWPATH_WORKLOAD_ISSUER_CA ?? null,
    tokenFile: values.TOWPATH_WORKLOAD_ISSUER_TOKEN ?? null,
  };
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** A pod's own token is of the cluster's issuer. */
function issuerOfToken(file: string): string | null {
  try {
    const [, claims = ""] = (textOf(file) ?? "").split(".");
    const { iss } = JSON.parse(Buffer.from(claims, "base64url").toString());
    return typeof iss === "string" && iss !== "" ? iss : null;
  } catch {
    return null;
  }
}
