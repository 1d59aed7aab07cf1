import { randomUUID } from "node:crypto";
import { readdir, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeDirectory } from "@towpath/runtime/remove-directory";
import { digestSchema } from "./port.ts";

/**
 * Layers of the first release: unpacked directories `deps/<name>` and `code/<name>`, each renamed into place when it
 * was complete, and named by the hash of its inputs. Servers run from them in place. None are added; each is removed
 * when no deployment refers to it any more.
 */
export type FirstReleaseLayers = {
  /** Absolute path of a layer; null if there is none with this name. */
  find(name: string): Promise<string | null>;
  /** Including the remains of interrupted removals. */
  list(): Promise<readonly FirstReleaseLayer[]>;
  /** Renames it out of use first. */
  remove(layer: FirstReleaseLayer): Promise<void>;
};

type FirstReleaseLayer = { readonly name: string; readonly path: string };

const kinds = ["deps", "code"] as const;

export function openFirstReleaseLayers(root: string): FirstReleaseLayers {
  return {
    async find(name) {
      for (const kind of kinds) {
        const path = join(root, kind, digestSchema.parse(name));
        if ((await stat(path).catch(() => null))?.isDirectory()) return path;
      }
      return null;
    },
    async list() {
      const lists = await Promise.all(
        kinds.map(async (kind) => {
          const names = await readdir(join(root, kind)).catch(() => []);
          return names.map((name) => ({ name, path: join(root, kind, name) }));
        }),
      );
      return lists.flat();
    },
    async remove({ path }) {
      const unused = join(dirname(path), `.${randomUUID()}`);
      await rename(path, unused);
      await removeDirectory(unused);
    },
  };
}
