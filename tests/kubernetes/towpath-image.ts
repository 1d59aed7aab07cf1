import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../instance/towpath-process.ts";
import type { Cluster } from "./cluster.ts";
import { buildah } from "./servers-image.ts";

/** Made once on a machine, as the stage `image` makes it. */
const base = "localhost/towpath-test-base";
const name = "localhost/towpath-cluster-test";
export const towpathImage = "towpath.test/towpath";

/**
 * Builds the image of the roles and brings it to the cluster under each of the tags. Takes minutes after each change of the
 * code; TOWPATH_TEST_IMAGE names one that is built already.
 */
export async function importTowpathImage(cluster: Cluster, directory: string, tags: readonly string[]): Promise<void> {
  const built = process.env.TOWPATH_TEST_IMAGE ?? (await build());
  const archive = join(directory, "towpath.tar");
  const [first = "", ...others] = tags.map((tag) => `${towpathImage}:${tag}`);
  await buildah("push", "--quiet", built, `docker-archive:${archive}:${first}`);
  await cluster.importImages(archive);
  await rm(archive);
  for (const other of others) await cluster.tagImage(first, other);
}

async function build(): Promise<string> {
  const isMade = await buildah("inspect", "--type", "image", base).then(
    () => true,
    () => false,
  );
  if (!isMade) {
    const env = { ...process.env, BUILDAH_ISOLATION: "chroot" };
    await promisify(execFile)(join(repositoryRoot, "tests/image/make-base"), [base], { cwd: repositoryRoot, env });
  }
  const file = ["--file=deploy/Dockerfile", "--build-arg", `BASE=${base}`];
  await buildah("build", "--format=docker", "--layers", ...file, "--tag", name, ".");
  return name;
}
