import { z } from "zod";
import type { AppCredentials } from "./app-credentials.ts";
import type { GitHub, GitHubConfig, RepositoryAddress } from "./contract.ts";
import { GitHubError, isGitHubError } from "./errors.ts";
import { type RepositoryReader, readOnly } from "./repository-reader.ts";
import { apiPath, requestStream } from "./request.ts";

/** An object for a file, an array for a directory. */
const contentsSchema = z.union([
  z.array(z.unknown()),
  z.object({ type: z.string(), encoding: z.string().optional(), content: z.string().optional() }),
]);

const treeSchema = z.object({
  tree: z.array(z.object({ path: z.string(), mode: z.string(), type: z.string(), size: z.number().optional() })),
  truncated: z.boolean().default(false),
});

/** Regular files; links and submodules are no candidates for anything. */
const fileModes = new Set(["100644", "100755"]);

type ContentCalls = Pick<GitHub, "fileExists" | "readFile" | "listFiles" | "tarball">;

/** What a commit holds, read as an installation. */
export function createContentCalls(
  config: GitHubConfig,
  credentials: AppCredentials,
  { getOf }: RepositoryReader,
): ContentCalls {
  /** null: no such path or ref, or a directory. */
  async function file(address: RepositoryAddress, path: string, ref: string) {
    try {
      const url = `${apiPath("contents", ...path.split("/"))}?ref=${encodeURIComponent(ref)}`;
      const { value } = await getOf(address, url, contentsSchema);
      return Array.isArray(value) || value.type !== "file" ? null : value;
    } catch (error) {
      if (isGitHubError(error, "not_found")) return null;
      throw error;
    }
  }

  return {
    fileExists: async (address, path, ref) => (await file(address, path, ref)) !== null,
    async readFile(address, path, ref) {
      const found = await file(address, path, ref);
      if (found === null) return null;
      if (found.encoding !== "base64" || found.content === undefined) {
        const publicText = "The file is larger than 1 MB.";
        throw new GitHubError("invalid", { publicText, detail: `${path} is too large` });
      }
      return Buffer.from(found.content, "base64").toString("utf8");
    },
    async listFiles(address, ref) {
      try {
        const { value } = await getOf(address, `${apiPath("git", "trees", ref)}?recursive=1`, treeSchema);
        const blobs = value.tree.filter((entry) => entry.type === "blob" && fileModes.has(entry.mode));
        return { files: blobs.map(({ path, size }) => ({ path, size: size ?? 0 })), truncated: value.truncated };
      } catch (error) {
        // An empty repository answers 409 here.
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
