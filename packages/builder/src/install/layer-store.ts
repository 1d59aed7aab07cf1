import { chmod, lstat, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "@towpath/runtime";

export type LayerKind = "deps" | "code";

/** Finished layers below `artifacts/`, named by their key. A layer that is there is whole: it is renamed into place. */
export class LayerStore {
  readonly #root: string;

  constructor(dataDirectory: string) {
    this.#root = join(dataDirectory, "artifacts");
  }

  path(kind: LayerKind, key: string): string {
    return join(this.#root, kind, key);
  }

  async has(kind: LayerKind, key: string): Promise<boolean> {
    return (await lstat(this.path(kind, key)).catch(() => null))?.isDirectory() ?? false;
  }

  /**
   * Moves a finished folder of the same file system into place. When another build was faster, its layer stays and
   * this one is removed: both are made of the same things, and somebody may already use the first.
   */
  async publish(kind: LayerKind, key: string, folder: string): Promise<void> {
    await mkdir(join(this.#root, kind), { recursive: true });
    await chmod(folder, 0o755);
    try {
      await rename(folder, this.path(kind, key));
    } catch (error) {
      const taken =
        error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST");
      if (!taken) throw error;
      await removeFolder(folder);
    }
  }
}
