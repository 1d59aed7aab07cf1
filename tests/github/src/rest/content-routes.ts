import { Hono } from "hono";
import type { ForgeContext } from "../forge.context.ts";
import { listPath, listTree, readBlob, readCommit, type TreeEntry, treePath } from "../git/objects.ts";
import { archive } from "../git/run-git.ts";
import { commitOf, type RestEnvironment, reading } from "./caller.ts";
import { RestError } from "./rest-request.ts";

const contentLimitBytes = 1024 * 1024;

/** A commit's tree, its files and directories, and its tarball. */
export function contentRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();

  routes.get("/repos/:owner/:repo/git/trees/:ref{.+}", async (c) => {
    const { directory, sha } = await commitOf(context, c, c.req.param("ref"));
    // Always recursive, as if `recursive` were set.
    const tree = (await listTree(directory, sha)).map(({ size, ...entry }) => ({
      ...entry,
      ...(size !== null && { size }),
    }));
    return c.json({ sha: (await readCommit(directory, sha)).tree, tree, truncated: false });
  });

  routes.get("/repos/:owner/:repo/contents/:path{.*}", async (c) => {
    const repository = reading(context, c);
    const { directory, sha } = await commitOf(context, c, c.req.query("ref") ?? repository.default_branch);
    const path = treePath(c.req.param("path"));
    const found = path === null ? null : await listPath(directory, sha, path);
    if (found === null) throw new RestError(404, "Not Found");
    return c.json(Array.isArray(found) ? found.map(contentShape) : await contentWithText(directory, found));
  });

  routes.get("/repos/:owner/:repo/tarball/:ref{.+}", async (c) => {
    const { repository, directory, sha } = await commitOf(context, c, c.req.param("ref"));
    const top = `${repository.owner}-${repository.name}-${sha.slice(0, 7)}`;
    const headers = {
      "content-type": "application/x-gzip",
      "content-disposition": `attachment; filename=${top}.tar.gz`,
    };
    return c.body(archive(directory, sha, top, c.req.raw.signal), 200, headers);
  });

  return routes;
}

function contentShape(entry: TreeEntry) {
  const kinds = { tree: "dir", commit: "submodule", blob: entry.mode === "120000" ? "symlink" : "file" } as const;
  const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
  return { type: kinds[entry.type], name, path: entry.path, sha: entry.sha, size: entry.size ?? 0 };
}

/** Above 1 MB GitHub omits the content and sets `encoding` to `none`. */
async function contentWithText(directory: string, entry: TreeEntry) {
  const shape = contentShape(entry);
  if (entry.type !== "blob") return shape;
  if (shape.size > contentLimitBytes) return { ...shape, encoding: "none", content: "" };
  return { ...shape, encoding: "base64", content: (await readBlob(directory, entry.sha)).toString("base64") };
}
