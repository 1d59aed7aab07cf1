import { Hono } from "hono";
import type { ForgeContext } from "../forge.context.ts";
import { archive } from "../git/archive.ts";
import { branchCommit, listBranches, resolveCommit } from "../git/bare-repository.ts";
import { listCommits, readCommit } from "../git/commits.ts";
import { listPath, listTree, readBlob, type TreeEntry, treePath } from "../git/trees.ts";
import { ensureDirectory } from "../repositories.ts";
import type { Repository } from "../state/repositories.ts";
import { repositoryById } from "../state/repositories.ts";
import { authorize, authorizeByName, type Permission } from "./caller.ts";
import { RestError } from "./rest-error.ts";
import { numberParam, paginate, type RestContext, type RestEnvironment } from "./rest-request.ts";
import { commitShape, repositoryShape } from "./shapes.ts";

const contentLimitBytes = 1024 * 1024;

/** Routes that read one repository. */
export function repositoryRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();
  const apiUrl = `${context.config.url}/api/v3`;

  function reading(c: RestContext, permission: Permission = "contents"): Repository {
    const name = { owner: c.req.param("owner") ?? "", repo: c.req.param("repo") ?? "" };
    return authorizeByName(context, c.get("caller"), name, permission, "read");
  }

  async function commitOf(
    c: RestContext,
    ref: string,
  ): Promise<{ repository: Repository; directory: string; sha: string }> {
    const repository = reading(c);
    const directory = await ensureDirectory(context, repository);
    const sha = await resolveCommit(directory, ref);
    if (sha !== null) return { repository, directory, sha };
    // GitHub tells an empty repository apart, except where it is asked for a path.
    const isEmpty = (await listBranches(directory)).size === 0 && c.req.param("path") === undefined;
    throw isEmpty ? new RestError(409, "Git Repository is empty.") : new RestError(404, "Not Found");
  }

  routes.get("/repos/:owner/:repo", (c) => c.json(repositoryShape(context, reading(c, "metadata"))));

  routes.get("/repositories/:id", (c) => {
    const repository = repositoryById(context.database, numberParam(c, "id"));
    return c.json(repositoryShape(context, authorize(context, c.get("caller"), repository, "metadata", "read")));
  });

  routes.get("/repos/:owner/:repo/branches", async (c) => {
    const repository = reading(c);
    const branches = [...(await listBranches(await ensureDirectory(context, repository)))];
    const base = `${apiUrl}/repos/${repository.owner}/${repository.name}/commits`;
    const page = paginate(c, context.config.url, branches);
    return c.json(page.map(([name, sha]) => ({ name, commit: { sha, url: `${base}/${sha}` }, protected: false })));
  });

  routes.get("/repos/:owner/:repo/branches/:branch{.+}", async (c) => {
    const repository = reading(c);
    const directory = await ensureDirectory(context, repository);
    const name = c.req.param("branch");
    const sha = await branchCommit(directory, name);
    if (sha === null) throw new RestError(404, "Branch not found");
    return c.json({
      name,
      commit: commitShape(context, repository, await readCommit(directory, sha)),
      protected: false,
    });
  });

  routes.get("/repos/:owner/:repo/commits", async (c) => {
    const repository = reading(c);
    const { directory, sha } = await commitOf(c, c.req.query("sha") ?? repository.default_branch);
    const page = paginate(c, context.config.url, await listCommits(directory, sha, 1000));
    return c.json(page.map((commit) => commitShape(context, repository, commit)));
  });

  routes.get("/repos/:owner/:repo/commits/:ref{.+}", async (c) => {
    const { repository, directory, sha } = await commitOf(c, c.req.param("ref"));
    return c.json(commitShape(context, repository, await readCommit(directory, sha)));
  });

  routes.get("/repos/:owner/:repo/git/trees/:ref{.+}", async (c) => {
    const { directory, sha } = await commitOf(c, c.req.param("ref"));
    const recursive = c.req.query("recursive") !== undefined;
    const entries = recursive ? await listTree(directory, sha) : ((await listPath(directory, sha, ""))?.entries ?? []);
    const tree = entries.map(({ size, ...entry }) => ({ ...entry, ...(size !== null && { size }) }));
    return c.json({ sha: (await readCommit(directory, sha)).tree, tree, truncated: false });
  });

  routes.get("/repos/:owner/:repo/contents/:path{.*}", async (c) => {
    const repository = reading(c);
    const { directory, sha } = await commitOf(c, c.req.query("ref") ?? repository.default_branch);
    const path = treePath(c.req.param("path"));
    const found = path === null ? null : await listPath(directory, sha, path);
    if (found === null) throw new RestError(404, "Not Found");
    if (found.entry === null || found.entry.type === "tree") return c.json(found.entries.map(contentShape));
    return c.json(await contentWithText(directory, found.entry));
  });

  const sendTarball = async (c: RestContext, ref: string) => {
    const { repository, directory, sha } = await commitOf(c, ref);
    const top = `${repository.owner}-${repository.name}-${sha.slice(0, 7)}`;
    const headers = {
      "content-type": "application/x-gzip",
      "content-disposition": `attachment; filename=${top}.tar.gz`,
    };
    return c.body(archive(directory, sha, top, c.req.raw.signal), 200, headers);
  };
  routes.get("/repos/:owner/:repo/tarball", (c) => sendTarball(c, reading(c).default_branch));
  routes.get("/repos/:owner/:repo/tarball/:ref{.+}", (c) => sendTarball(c, c.req.param("ref")));

  return routes;
}

function contentShape(entry: TreeEntry) {
  const kinds = { tree: "dir", commit: "submodule", blob: entry.mode === "120000" ? "symlink" : "file" } as const;
  const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
  return { type: kinds[entry.type], name, path: entry.path, sha: entry.sha, size: entry.size ?? 0 };
}

/** Beyond 1 MB GitHub leaves the text out and says encoding `none`. */
async function contentWithText(directory: string, entry: TreeEntry) {
  const shape = contentShape(entry);
  if (entry.type !== "blob") return shape;
  if (shape.size > contentLimitBytes) return { ...shape, encoding: "none", content: "" };
  return { ...shape, encoding: "base64", content: (await readBlob(directory, entry.sha)).toString("base64") };
}
