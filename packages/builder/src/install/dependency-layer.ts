import { buildImage, type VolumeEntry, type VolumeMount } from "@towpath/runtime";
import { z } from "zod";
import { BuildFailure, changeCode, countOf, failed, megabytes } from "../failure.ts";
import { noServerIn, withoutMcp } from "../plan/no-server.ts";
import type { Plan } from "../plan/plan.ts";
import type { Pin } from "../source/requirements-file.ts";
import {
  copySource,
  createEnvironment,
  dependencyKey,
  exactFile,
  extraRequirements,
  finishDependencies,
  installAlone,
  installCommands,
  type KeyParts,
  lookAt,
  requirementsFile,
  resolutionKey,
  resolveCommand,
} from "./commands.ts";
import { type ExactList, readList } from "./exact-list.ts";
import type { InstallInput, MadeLayer } from "./input.ts";
import { runStep, sourceAt } from "./run-step.ts";

const maxExactBytes = 4 * 1024 * 1024;
const sealedSchema = z.object({ bytes: z.number(), files: z.number() });

type LayerInput = InstallInput & { readonly parts: KeyParts; readonly volumes: readonly VolumeMount[] };

/**
 * `packages`: number of installed packages. `exact`: the exact versions, or a digest of the lock. `pins`: such as
 * `fastmcp==4.1.2`; null for a lock.
 */
export type DependencyLayer = MadeLayer & {
  readonly packages: number;
  readonly exact: string;
  readonly pins: readonly string[] | null;
};

/** Finds the dependency layer or makes it. @throws BuildFailure */
export async function dependencyLayer(input: InstallInput): Promise<DependencyLayer> {
  const { plan, layers, workspace, log, organizationId, pythonVersion, limits } = input;
  const parts = { organizationId, image: await workspace.image(pythonVersion) };
  const build = { ...input, parts, volumes: await prepareVolumes(input) };
  const list = await exactList(build);
  const { exact } = list;
  const pins = plan.dependencies.kind === "uv-lock" ? null : (exact.match(/^[A-Za-z0-9][\w.-]*==[^\s;]+/gm) ?? []);
  if (plan.lacksMcp) assertBringsMcp(plan, exact);
  const key = dependencyKey(plan, exact, parts);
  const short = key.slice(0, 12);
  const known = await layers.find(key);
  if (known !== null) {
    log("install", "step", `Dependencies: the same as in an earlier build; reusing its layer ${short}.`);
    return { digest: known.digest, reused: true, packages: 0, exact, pins };
  }
  log("install", "step", `Dependencies: no layer ${short} yet, so they are installed.`);
  const interpreter = buildImage.python(pythonVersion);
  await step(build, createEnvironment(interpreter), "none");
  let packages = 0;
  if (plan.runs !== null) {
    packages += installedPackages(await step(build, installAlone(plan, plan.runs), "internet"));
    await assertOffers(build, plan.runs, exact);
  }
  for (const command of installCommands(plan, interpreter)) {
    packages += installedPackages(await step({ ...build, requirers: list.requirers }, command, "internet"));
  }
  log("install", "step", "Dependencies: compiling them to bytecode, for fast starts.");
  await finish(build, interpreter);
  log("install", "step", "Dependencies: packing the layer.");
  // Apparent sizes, which exceed the space on disk if files have holes.
  const maxBytes = Math.max(2 * limits.dependencyBytes, limits.diskBytes);
  const digest = await workspace.publish("dependencies", { name: key, maxBytes });
  return { digest, reused: false, packages, exact, pins };
}

const offersSchema = z.object({ starts: z.boolean(), mcp: z.boolean() });

/** @throws BuildFailure for a package that can't be a server, before its requirements are installed */
async function assertOffers(input: LayerInput, runs: Pin, exact: string): Promise<void> {
  const argv = lookAt(buildImage.python(input.pythonVersion), runs);
  const output = await step(input, argv, "none", true);
  const { starts, mcp } = offersSchema.parse(JSON.parse(output.split("\n").at(-1) ?? ""));
  const isForMcp = mcp || namesIn(exact).some((name) => /mcp/i.test(name));
  if (!starts || !isForMcp) throw new BuildFailure(noServerIn(runs, starts ? "mcp" : "program"));
}

const namesIn = (exact: string): readonly string[] => exact.match(/^[A-Za-z0-9][\w.-]*/gm) ?? [];

/** @throws BuildFailure if no requirement of a repository without MCP concerns MCP, by its name */
function assertBringsMcp({ dependencies: { kind } }: Plan, exact: string): void {
  // A lock isn't resolved. Without requirements fastmcp is installed, which the repository doesn't request.
  if (kind === "uv-lock") return;
  const names = kind === "none" ? [] : namesIn(exact);
  if (!names.some((name) => /mcp/i.test(name))) throw new BuildFailure(withoutMcp);
}

/** How many packages uv says it installed: lines such as ` + fastmcp==4.1.2`. */
const installedPackages = (output: string): number => output.match(/^ \+ \S+==/gm)?.length ?? 0;

/** Resolves to the volumes that the steps mount. */
async function prepareVolumes(input: InstallInput): Promise<readonly VolumeMount[]> {
  const { workspace, plan, source, pythonVersion, limits } = input;
  await workspace.write("work", [textFile(requirementsFile, extraRequirements(plan))]);
  const writable: readonly VolumeMount[] = [
    { volume: "dependencies", path: buildImage.dependencies, access: "write" },
    { volume: "work", path: buildImage.work, access: "write" },
    { volume: "cache", path: buildImage.cache, access: "write" },
  ];
  if (!plan.usesTree) return [sourceAt(source, buildImage.code), ...writable];
  // Build backends write into the source tree, which must not affect the code layer.
  const tree: VolumeMount = { volume: "tree", path: buildImage.code, access: "write" };
  const argv = copySource(buildImage.python(pythonVersion));
  const volumes = [sourceAt({ subPath: plan.context?.root ?? source.subPath }, buildImage.source), tree];
  await runStep(input, { argv, volumes, network: "none", timeoutMs: limits.installMs });
  return [tree, ...writable];
}

/** Identifies the exact versions: the lock's digest, or the list of a resolution, which may be a recent one. */
async function exactList(input: LayerInput): Promise<ExactList> {
  const { plan, memory, parts, workspace, pythonVersion, log, asOf, pins } = input;
  const command = resolveCommand(plan, buildImage.python(pythonVersion), asOf);
  if (command === null) return { exact: plan.inputDigest, requirers: new Map() };
  const key = resolutionKey(plan, parts, asOf);
  const known = pins === null ? await memory.recall(key) : null;
  if (known !== null) {
    const hours = Math.round(known.ageMs / 3_600_000);
    log(
      "install",
      "step",
      `Versions: resolved ${hours < 1 ? "less than an hour" : `${hours} h`} ago for the same requirements; reusing them. Commit a uv.lock to pin them for good.`,
    );
    const list = readList(known.list);
    await workspace.write("work", [textFile(exactFile, list.exact)]);
    return list;
  }
  const how = pins === null ? "resolving" : "those of the earlier build, as far as the index still has them";
  log("install", "step", `Versions: ${how}.`);
  // uv keeps the versions that it finds in its output file.
  const preferred = pins ?? plan.dependencies.preferred;
  if (preferred.length > 0) await workspace.write("work", [textFile(exactFile, `${preferred.join("\n")}\n`, "shared")]);
  await step(input, command, "internet");
  const resolved = new TextDecoder().decode(await workspace.read("work", exactFile, maxExactBytes));
  const withoutEditables = plan.context === null ? resolved : copied(resolved);
  const list = readList(withoutEditables);
  await workspace.write("work", [textFile(exactFile, list.exact)]);
  const count = list.exact.split("\n").filter((line) => /^[A-Za-z0-9]/.test(line)).length;
  log("install", "step", `Versions: resolved to ${countOf(count, "package")}.`);
  if (pins === null) await memory.remember(key, withoutEditables);
  return list;
}

const textFile = (path: string, content: string, access: "read" | "shared" = "read"): VolumeEntry => ({
  kind: "file",
  path,
  access,
  content,
});

/** Without editable installs: at run time only the project's directory remains of the repository. */
const copied = (exact: string) => exact.replaceAll(/^(?:-e|--editable) /gm, "");

async function finish(input: LayerInput, interpreter: string): Promise<void> {
  const { plan, limits } = input;
  const output = await step(input, finishDependencies(plan, interpreter), "none", true);
  const { bytes } = sealedSchema.parse(JSON.parse(output.split("\n").at(-1) ?? ""));
  const limit = limits.dependencyBytes;
  if (bytes <= limit) return;
  throw failed("install", "dependency_build_failed", changeCode, {
    title: "The dependencies are too large",
    detail: `Installed, they take ${megabytes(bytes)}; the limit is ${megabytes(limit)}.`,
    remedy: "Remove large packages, or choose their smaller variants (for example CPU-only builds).",
  });
}

const step = (
  input: LayerInput,
  argv: readonly [string, ...string[]],
  network: "none" | "internet",
  quietStdout = false,
): Promise<string> =>
  runStep(input, { argv, volumes: input.volumes, network, timeoutMs: input.limits.installMs, quietStdout });
