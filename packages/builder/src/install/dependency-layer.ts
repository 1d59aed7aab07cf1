import { constants } from "node:fs";
import { chmod, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildImage, type VolumeMount } from "@towpath/runtime";
import { z } from "zod";
import { counted } from "../counted.ts";
import { BuildFailure, diagnosis } from "../failure.ts";
import {
  copySource,
  createEnvironment,
  exactFile,
  extraRequirements,
  finishDependencies,
  installCommands,
  requirementsFile,
  resolveCommand,
} from "./commands.ts";
import type { InstallInput } from "./install.ts";
import { dependencyKey, type KeyParts, resolutionKey } from "./layer-key.ts";
import { runStep, sourceAt } from "./run-step.ts";

const maxExactBytes = 4 * 1024 * 1024;
const sealedSchema = z.object({ bytes: z.number(), files: z.number() });

type LayerInput = InstallInput & { readonly parts: KeyParts; readonly volumes: readonly VolumeMount[] };

/** Makes the dependency layer, or finds that it is already there. Resolves to its digest. @throws BuildFailure */
export async function dependencyLayer(input: InstallInput): Promise<string> {
  const { plan, layers, workspace, log, organizationId, pythonVersion, limits } = input;
  const parts = { organizationId, image: await workspace.image(pythonVersion) };
  const build = { ...input, parts, volumes: await prepareVolumes(input) };
  const exact = await exactList(build);
  const key = dependencyKey(plan, exact, parts);
  const short = key.slice(0, 12);
  const known = await layers.find(key);
  if (known !== null) {
    log("install", "step", `Dependencies: the same as in an earlier build; reusing its layer ${short}.`);
    return known.digest;
  }
  log("install", "step", `Dependencies: no layer ${short} yet, so they are installed.`);
  const interpreter = buildImage.python(pythonVersion);
  await step(build, createEnvironment(interpreter), "none");
  for (const command of installCommands(plan, interpreter)) await step(build, command, "internet");
  await finish(build, interpreter);
  // Sizes as files say them, which holes in files make larger than what they take.
  const maxBytes = Math.max(2 * limits.dependencyBytes, limits.diskBytes);
  return await workspace.publish("dependencies", { name: key, maxBytes });
}

/** Resolves to what the steps see. */
async function prepareVolumes(input: InstallInput): Promise<readonly VolumeMount[]> {
  const { workspace, plan, source, pythonVersion, limits } = input;
  const requirements = join(workspace.directory("work"), requirementsFile);
  await writeFile(requirements, extraRequirements(plan));
  await chmod(requirements, 0o644);
  const writable: readonly VolumeMount[] = [
    { volume: "dependencies", path: buildImage.dependencies, access: "write" },
    { volume: "work", path: buildImage.work, access: "write" },
    { volume: "cache", path: buildImage.cache, access: "write" },
  ];
  if (!plan.usesTree) return [sourceAt(source, buildImage.code), ...writable];
  // Build backends write beside the sources that they build; the code layer must not see that.
  const tree: VolumeMount = { volume: "tree", path: buildImage.code, access: "write" };
  const argv = copySource(buildImage.python(pythonVersion));
  const volumes = [sourceAt(source, buildImage.source), tree];
  await runStep(input, { argv, volumes, network: "none", timeoutMs: limits.installMs });
  return [tree, ...writable];
}

/** The lock, or the exact list that a resolution gives: from memory when the same was asked a short while ago. */
async function exactList(input: LayerInput): Promise<string> {
  const { plan, memory, parts, workspace, pythonVersion, log, buildId } = input;
  const command = resolveCommand(plan, buildImage.python(pythonVersion));
  if (command === null) return plan.inputDigest;
  const key = resolutionKey(plan, parts);
  const file = join(workspace.directory("work"), exactFile);
  const known = await memory.recall(key);
  if (known !== null) {
    const hours = Math.round(known.ageMs / 3_600_000);
    log(
      "install",
      "step",
      `Versions: resolved ${hours < 1 ? "less than an hour" : `${hours} h`} ago for the same requirements, so they are kept. A uv.lock in the repository fixes them for good.`,
    );
    await writeFile(file, known.exact, { flag: "wx", mode: 0o644 });
    return known.exact;
  }
  log("install", "step", "Versions: resolving.");
  await step(input, command, "internet");
  const exact = await readOwn(file);
  const count = exact.split("\n").filter((line) => /^[A-Za-z0-9]/.test(line)).length;
  log("install", "step", `Versions: resolved to ${counted(count, "package")}.`);
  await memory.remember(key, exact, buildId);
  return exact;
}

/** Reads a file that a tenant's process could have made: never through a link, never more than it should be. */
async function readOwn(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > maxExactBytes) throw new Error("The list of versions is no ordinary file.");
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

async function finish(input: LayerInput, interpreter: string): Promise<void> {
  const { plan, limits } = input;
  const output = await step(input, finishDependencies(plan, interpreter), "none", true);
  const { bytes } = sealedSchema.parse(JSON.parse(output.split("\n").at(-1) ?? ""));
  const limit = limits.dependencyBytes;
  if (bytes <= limit) return;
  throw new BuildFailure(
    diagnosis({
      code: "dependency_build_failed",
      phase: "install",
      title: "The dependencies are too large",
      detail: `Installed they take ${Math.round(bytes / 1024 / 1024)} MB; at most ${Math.round(limit / 1024 / 1024)} MB are kept.`,
      remedy: "Remove large packages, or choose their smaller variants (for example CPU-only builds).",
    }),
  );
}

const step = (
  input: LayerInput,
  argv: readonly [string, ...string[]],
  network: "none" | "internet",
  quietStdout = false,
): Promise<string> =>
  runStep(input, { argv, volumes: input.volumes, network, timeoutMs: input.limits.installMs, quietStdout });
