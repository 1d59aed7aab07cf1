import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { repositoryRoot } from "../instance/towpath-process.ts";

const tools = join(repositoryRoot, ".toolchain/chart");
export const chart = join(repositoryRoot, "deploy/chart");
export const release = "towpath";
export const namespace = "platform";

/** Names of files in `values`, in the order in which they are merged. */
const valueFiles = {
  smallest: ["smallest"],
  everything: ["everything"],
  ingress: ["smallest", "ingress"],
  existingSecrets: ["existing-secrets"],
} as const;
export type Variant = keyof typeof valueFiles;
export const variants = Object.keys(valueFiles) as readonly Variant[];

const metadataSchema = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
});
const objectSchema = z.looseObject({ apiVersion: z.string(), kind: z.string(), metadata: metadataSchema });
/** An object of Kubernetes as the chart renders it. */
export type Rendered = z.output<typeof objectSchema>;

const fileOf = (name: string) => join(repositoryRoot, "tests/chart/values", `${name}.yaml`);
export const valuesOf = (variant: Variant): string[] =>
  valueFiles[variant].flatMap((name) => ["--values", fileOf(name)]);

const run = promisify(execFile);
/** Programs that the launcher has built. Rejects with what they print if they fail. */
export async function runProgram(name: "helm" | "kubeconform", args: readonly string[]): Promise<string> {
  const { stdout } = await run(join(tools, name), args, { maxBuffer: 1 << 26 });
  return stdout;
}

/** `helm template`, without a cluster: the text. */
export const renderText = (...args: string[]): Promise<string> =>
  runProgram("helm", ["template", release, chart, "--namespace", namespace, ...args]);

const objectsIn = (text: string): Rendered[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as unknown)
    .filter((each) => each !== null)
    .map((each) => objectSchema.parse(each));

export const render = async (variant: Variant, ...args: string[]): Promise<Rendered[]> =>
  objectsIn(await renderText(...valuesOf(variant), ...args));

/** What kubeconform says against a text of objects, and how many there are. `location`: of its schemas. */
export async function validate(
  text: string,
  location: string,
): Promise<{ count: number; problems: readonly string[] }> {
  const options = ["-schema-location", location, "-output", "json", "-verbose"];
  const { resources } = await inFile(text, (file) =>
    // It prints the same if objects are invalid, and fails.
    runProgram("kubeconform", [...options, file]).catch(({ stdout }: { readonly stdout: string }) => stdout),
  ).then((printed) => reportSchema.parse(JSON.parse(printed)));
  const invalid = resources.filter(({ status }) => status !== "statusValid");
  return { count: resources.length, problems: invalid.map(({ kind, name, msg }) => `${kind} ${name}: ${msg}`) };
}

const reportSchema = z.object({
  resources: z.array(z.object({ kind: z.string(), name: z.string(), status: z.string(), msg: z.string() })),
});

async function inFile<Result>(text: string, use: (file: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-chart-"));
  const file = join(directory, "file.yaml");
  await writeFile(file, text);
  try {
    return await use(file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What the chart says to values over those of a variant; "" if it takes them. */
export const refusal = (variant: Variant, values: string): Promise<string> =>
  inFile(values, async (file) => {
    try {
      await renderText(...valuesOf(variant), "--values", file);
      return "";
    } catch (error) {
      return error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    }
  });

const rulesSchema = z.array(
  z.object({
    apiGroups: z.array(z.string()),
    resources: z.array(z.string()),
    resourceNames: z.array(z.string()).optional(),
    verbs: z.array(z.string()),
  }),
);
export const rulesOf = (object: Rendered | undefined) => rulesSchema.parse(object?.rules);

const environmentSchema = z.array(
  z.object({
    name: z.string(),
    value: z.string().optional(),
    valueFrom: z
      .object({
        secretKeyRef: z.object({ name: z.string(), key: z.string(), optional: z.boolean().optional() }).optional(),
        fieldRef: z.object({ fieldPath: z.string() }).optional(),
      })
      .optional(),
  }),
);
const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  env: environmentSchema.default([]),
  securityContext: z.looseObject({}),
  readinessProbe: z.looseObject({}).optional(),
  livenessProbe: z.looseObject({}).optional(),
});
const podSchema = z.looseObject({
  serviceAccountName: z.string().optional(),
  automountServiceAccountToken: z.boolean().optional(),
  enableServiceLinks: z.boolean().optional(),
  securityContext: z.looseObject({}),
  containers: z.array(containerSchema),
});
const workloadSchema = z.object({
  template: z.object({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }), spec: podSchema }),
});

/** Deployments and Jobs of the roles with their pods and the one container, by the end of their name: `web`, `migrate`. */
export function podsOf(objects: readonly Rendered[]) {
  const workloads = objects.filter(
    ({ kind, metadata }) => kind === "Job" || (kind === "Deployment" && metadata.namespace === undefined),
  );
  return Object.fromEntries(
    workloads.map((object) => {
      const { metadata, spec } = workloadSchema.parse(object.spec).template;
      const [container, ...others] = spec.containers;
      if (container === undefined || others.length > 0) throw new Error(`${object.metadata.name}: not one container`);
      return [object.metadata.name.replace(`${release}-`, ""), { labels: metadata.labels, pod: spec, container }];
    }),
  );
}

/** Of a ConfigMap or Secret: its values as text. */
export function dataOf(object: Rendered | undefined): Record<string, string> {
  const data = z.record(z.string(), z.string()).parse(object?.data);
  const decoded = (text: string) => Buffer.from(text, "base64").toString();
  return object?.kind === "Secret"
    ? Object.fromEntries(Object.entries(data).map(([key, text]) => [key, decoded(text)]))
    : data;
}

/** The object of a kind whose name is that of the release and `part`. */
export const named = (objects: readonly Rendered[], kind: string, part: string): Rendered | undefined =>
  objects.find((each) => each.kind === kind && each.metadata.name === `${release}-${part}`);
