import { statfs } from "node:fs/promises";
import { BuildFailure, diagnosis } from "../failure.ts";

const everyMs = 1_000;

/**
 * Watches the free space of a folder's file system while a package's build script may write to it. `full` is aborted
 * with a BuildFailure when less than `leastBytes` are free.
 */
export function watchDisk(folder: string, leastBytes: number): { readonly full: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const look = async () => {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < leastBytes) controller.abort(noSpace());
  };
  // A file system that cannot be asked is no reason to end a build.
  const timer = setInterval(() => void look().catch(() => {}), everyMs);
  timer.unref();
  return { full: controller.signal, stop: () => clearInterval(timer) };
}

const noSpace = () =>
  new BuildFailure(
    diagnosis({
      code: "dependency_build_failed",
      phase: "install",
      title: "The disk is nearly full",
      detail: "Installing the dependencies was ended, because the platform's disk has almost no space left.",
      remedy:
        "Remove large packages. If the dependencies are small, tell the operator: the disk is full for another reason.",
    }),
  );
