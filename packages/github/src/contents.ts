import type { RepositoryAddress } from "@towpath/core/ports";
import { z } from "zod";
import type { AppCredentials } from "./app-credentials.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import { isGitHubError } from "./errors.ts";
import { type RepositoryReader, readOnly } from "./repositories.ts";
import { apiPath, requestStream } from "./request.ts";

/** Empty above 1 MB, when `encoding` is `none`. */
const fileSchema = z.object({ type: z.literal("file"), encoding: z.string(), content: z.string() });

/** An object for a file, an array for a directory. */
const contentsSchema = z.union([z.array(z.unknown()), z.object({ type: z.string() })]);

const treeSchema = z.object({
  tree: z.array(
    z.object({ path: z.string(), mode: z.string(), type: z.string(), sha: z.string(), size: z.number().optional() }),
  ),
  truncated: z.boolean().default(false),
});

/** Regular files, without links and submodules. */
const fileModes = new Set(["100644", "100755"]);

type ContentCalls = Pick<GitHub, "fileExists" | "readFile" | "listFiles" | "changedFiles" | "tarball">;

/** Reads the files of a commit as an installation. */
export function createContentCalls(
  config: GitHubConfig,
  credentials: AppCredentials,
  { getOf }: RepositoryReader,
): ContentCalls {
  /** Path → object id; null when GitHub truncates the tree. */
  const tree = async (address: RepositoryAddress, ref: string): Promise<ReadonlyMap<string, string> | null> => {
    const { value } = await getOf(address, `${apiPath("git", "trees", ref)}?recursive=1`, treeSchema);
    if (value.truncated) return null;
    const files = value.tree.filter(({ type }) => type !== "tree");
    return new Map(files.map(({ path, mode, sha }) => [path, `${mode} ${sha}`]));
  };
  return {
    async fileExists(address, path, ref) {
      try {
        const url = `${apiPath("contents", ...path.split("/"))}?ref=${encodeURIComponent(ref)}`;
        const { value } = await getOf(address, url, contentsSchema);
        return !Array.isArray(value) && value.type === "file";
      } catch (error) {
        if (isGitHubError(error, "not_found")) return false;
        throw error;
      }
    },
    async readFile(address, path, ref) {
      try {
        const url = `${apiPath("contents", ...path.split("/"))}?ref=${encodeURIComponent(ref)}`;
        const { value } = await getOf(address, url, fileSchema);
        return value.encoding === "base64" ? Buffer.from(value.content, "base64").toString("utf8") : null;
      } catch (error) {
        if (isGitHubError(error, "not_found")) return null;
        throw error;
      }
    },
    async listFiles(address, ref) {
      try {
        const { value } = await getOf(address, `${apiPath("git", "trees", ref)}?recursive=1`, treeSchema);
        const blobs = value.tree.filter((entry) => entry.type === "blob" && fileModes.has(entry.mode));
        return { files: blobs.map(({ path, size }) => ({ path, size: size ?? 0 })), truncated: value.truncated };
      } catch (error) {
        // GitHub answers 409 for an empty repository.
        if (isGitHubError(error, "conflict")) return { files: [], truncated: false };
        throw error;
      }
    },
    async changedFiles(address, base, head) {
      try {
        const [before, after] = await Promise.all([tree(address, base), tree(address, head)]);
        return before && after ? differences(before, after) : null;
      } catch (error) {
        // A commit that was replaced by force is gone some time later.
        if (isGitHubError(error, "not_found") || isGitHubError(error, "invalid")) return null;
        throw error;
      }
    },
    async tarball({ installationId, repositoryId, owner, name, sha }, signal) {
      const scope = { installationId, repository: { id: repositoryId }, permissions: readOnly };
      const url = config.apiUrl + apiPath("repos", owner, name, "tarball", sha);
      return credentials.withInstallationToken(scope, (authorization) =>
        requestStream({ reach: config.reach, method: "GET", url, authorization, signal }),
      );
    },
  };
}

/** Paths that were added, removed or changed. */
function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  const removed = [...before.keys()].filter((path) => !after.has(path));
  const changed = [...after].filter(([path, content]) => before.get(path) !== content).map(([path]) => path);
  return [...removed, ...changed];
}
