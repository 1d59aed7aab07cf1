import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repositoryRoot } from "../instance/towpath-process.ts";
import type { Cluster } from "./cluster.ts";

const run = promisify(execFile);
const options = {
  cwd: repositoryRoot,
  maxBuffer: 64 * 1024 ** 2,
  env: { ...process.env, BUILDAH_ISOLATION: "chroot" },
};
export const buildah = (...args: readonly string[]) => run("buildah", args, options);

/** Made once on a machine. */
const base = "localhost/towpath-servers-test-base";
/** Of this checkout: others on the machine may have other programs. */
const checkout = createHash("sha256").update(repositoryRoot).digest("hex").slice(0, 8);
export const builtServersImage = `localhost/towpath-servers-test-${checkout}`;
/** For pods, with `imagePullPolicy: Never`. */
const serversImage = "towpath.test/servers:1";

/** Builds the image of servers and builds, with Debian's Python only, and brings it to the cluster. Takes minutes at first. */
export async function importServersImage(cluster: Cluster, directory: string): Promise<string> {
  const isMade = await buildah("inspect", "--type", "image", base).then(
    () => true,
    () => false,
  );
  if (!isMade) await run(join(import.meta.dirname, "make-servers-base"), [base], options);
  const build = ["build", "--format=docker", "--layers", "--target=servers", "--file=deploy/Dockerfile"];
  await buildah(
    ...build,
    "--build-arg",
    `SERVERS_BASE=${base}`,
    "--build-arg",
    "PYTHONS=",
    "--tag",
    builtServersImage,
    ".",
  );
  const archive = join(directory, "servers.tar");
  await buildah("push", "--quiet", builtServersImage, `docker-archive:${archive}:${serversImage}`);
  await cluster.importImages(archive);
  await rm(archive);
  return serversImage;
}
