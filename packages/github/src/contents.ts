import { z } from "zod";
import type { AppCredentials } from "./app-credentials.ts";
import type { GitHub, GitHubConfig } from "./contract.ts";
import { isGitHubError } from "./errors.ts";
import { type RepositoryReader, readOnly } from "./repositories.ts";
import { apiPath, requestStream } from "./request.ts";

/** An object for a file, an array for a directory. */
const contentsSchema = z.union([z.array(z.unknown()), z.object({ type: z.string() })]);

const treeSchema = z.object({
  tree: z.array(z.object({ path: z.string(), mode: z.string(), type: z.string(), size: z.number().optional() })),
  truncated: z.boolean().default(false),
});

/** Regular files, without links and submodules. */
const fileModes = new Set(["100644", "100755"]);

type ContentCalls = Pick<GitHub, "fileExists" | "listFiles" | "tarball">;

/** Reads the files of a commit as an installation. */
export function createContentCalls(
  config: GitHubConfig,
  credentials: AppCredentials,
  { getOf }: RepositoryReader,
): ContentCalls {
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
    async tarball({ installationId, repositoryId, owner, name, sha }, signal) {
      const scope = { installationId, repository: { id: repositoryId }, permissions: readOnly };
      const url = config.apiUrl + apiPath("repos", owner, name, "tarball", sha);
      return credentials.withInstallationToken(scope, (authorization) =>
        requestStream({ method: "GET", url, authorization, signal }),
      );
    },
  };
}
