import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const tar = async (directory: string, file: string, ...paths: readonly string[]) =>
  promisify(execFile)("tar", ["-C", directory, "--owner=0", "--group=0", "-cf", file, ...paths]);

/** Of a cluster, as a docker-archive. */
export const pauseArchive = (directory: string): string => join(directory, "pause.tar");

/** Makes the image that holds a pod's network: a program that waits. */
export async function writePauseImage(directory: string): Promise<void> {
  const [files, archive] = [join(directory, "pause-files"), join(directory, "pause-archive")];
  await mkdir(files, { recursive: true });
  await mkdir(archive, { recursive: true });
  await copyFile("/usr/bin/busybox", join(files, "busybox"));
  await chmod(join(files, "busybox"), 0o755);
  await tar(files, join(archive, "layer.tar"), "busybox");
  const digest = createHash("sha256")
    .update(await readFile(join(archive, "layer.tar")))
    .digest("hex");
  const wait = "trap exit TERM INT; while :; do /busybox sleep 86400 & wait; done";
  const config = {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: { Entrypoint: ["/busybox", "sh", "-c", wait], User: "65535:65535" },
    rootfs: { type: "layers", diff_ids: [`sha256:${digest}`] },
  };
  await writeFile(join(archive, "config.json"), JSON.stringify(config));
  const manifest = [{ Config: "config.json", RepoTags: ["towpath.test/pause:1"], Layers: ["layer.tar"] }];
  await writeFile(join(archive, "manifest.json"), JSON.stringify(manifest));
  await tar(archive, pauseArchive(directory), "manifest.json", "config.json", "layer.tar");
}
