import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { branchCommit, isAncestor, isRefName, listRefs } from "../git/bare-repository.ts";
import { objectExists, treePath } from "../git/trees.ts";
import { updateRef, writeBlob, writeCommit, writeTree } from "../git/write-objects.ts";
import { authorOf, ensureDirectory } from "../repositories.ts";
import { reconcileRefs } from "../webhooks/reconcile-refs.ts";
import { type Access, actingAccount, authorizeByName } from "./caller.ts";
import { RestError } from "./rest-error.ts";
import { type RestContext, type RestEnvironment, readBody, repositoryName } from "./rest-request.ts";

const shaSchema = z.string().regex(/^[0-9a-f]{40}$/, "is not a full sha");

const treeSchema = z.object({
  base_tree: shaSchema.optional(),
  tree: z
    .array(
      z.object({
        path: z.string().min(1),
        mode: z.enum(["100644", "100755", "120000"]).default("100644"),
        content: z.string().optional(),
        sha: shaSchema.nullish(),
      }),
    )
    .min(1)
    .max(1000),
});

const commitSchema = z.object({
  message: z.string().min(1),
  tree: shaSchema,
  parents: z.array(shaSchema).max(10).default([]),
});
const moveSchema = z.object({ sha: shaSchema, force: z.boolean().default(false) });
const newRefSchema = z.object({ ref: z.string().startsWith("refs/"), sha: shaSchema });

type TreeItem = z.infer<typeof treeSchema>["tree"][number];

async function treeChange(directory: string, item: TreeItem) {
  const path = treePath(item.path);
  // `.git` in a tree is refused by every client that would check it out.
  if (path === null || path !== item.path || path.split("/").some((part) => part.toLowerCase() === ".git")) {
    throw new RestError(422, `tree.path contains a malformed path component: ${item.path}`);
  }
  if (item.content !== undefined) return { path, mode: item.mode, sha: await writeBlob(directory, item.content) };
  if (item.sha && !(await objectExists(directory, item.sha, "blob")))
    throw new RestError(422, "tree.sha is not a valid blob");
  return { path, mode: item.mode, sha: item.sha ?? null };
}

/** The repository, ready for its git database. GitHub's takes nothing while the repository is empty. */
async function open(context: ForgeContext, c: RestContext, access: Access) {
  const repository = authorizeByName(context, c.get("caller"), repositoryName(c), "contents", access);
  const directory = await ensureDirectory(context, repository);
  const isEmpty = (await listRefs(directory)).size === 0;
  if (isEmpty) throw new RestError(409, "Git Repository is empty.");
  return { repository, directory };
}

/** Git database: trees and commits. */
export function gitDataRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();

  routes.post("/repos/:owner/:repo/git/trees", async (c) => {
    const { directory } = await open(context, c, "write");
    const body = await readBody(c, treeSchema);
    const base = body.base_tree ?? null;
    const isBase =
      base === null || (await objectExists(directory, base, "tree")) || (await objectExists(directory, base, "commit"));
    if (!isBase) throw new RestError(422, "base_tree is not a valid tree");
    const changes = [];
    for (const item of body.tree) changes.push(await treeChange(directory, item));
    return c.json({ sha: await writeTree(directory, base, changes) }, 201);
  });

  routes.post("/repos/:owner/:repo/git/commits", async (c) => {
    const { directory } = await open(context, c, "write");
    const body = await readBody(c, commitSchema);
    if (!(await objectExists(directory, body.tree, "tree"))) throw new RestError(422, "Tree SHA does not exist");
    for (const parent of body.parents) {
      if (!(await objectExists(directory, parent, "commit"))) throw new RestError(422, "Parent SHA does not exist");
    }
    const author = authorOf(actingAccount(context, c.get("caller")));
    return c.json({ sha: await writeCommit(directory, { ...body, author }), message: body.message }, 201);
  });

  return routes;
}

const refAnswer = (ref: string, sha: string) => ({ ref, object: { type: "commit", sha } });

/** Git database: refs. A moved ref tells its webhooks like a push. */
export function gitRefRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();

  routes.get("/repos/:owner/:repo/git/ref/heads/:branch{.+}", async (c) => {
    const { directory } = await open(context, c, "read");
    const branch = c.req.param("branch");
    const sha = await branchCommit(directory, branch);
    if (sha === null) throw new RestError(404, "Not Found");
    return c.json(refAnswer(`refs/heads/${branch}`, sha));
  });

  routes.post("/repos/:owner/:repo/git/refs", async (c) => {
    const { repository, directory } = await open(context, c, "write");
    const { ref, sha } = await readBody(c, newRefSchema);
    if (!isRefName(ref) || !/^refs\/(heads|tags)\//.test(ref)) throw new RestError(422, "Reference name is not valid");
    if (!(await objectExists(directory, sha, "commit"))) throw new RestError(422, "Object does not exist");
    if (!(await updateRef(directory, ref, sha, null))) throw new RestError(422, "Reference already exists");
    await reconcileRefs(context, repository.id, actingAccount(context, c.get("caller")));
    return c.json(refAnswer(ref, sha), 201);
  });

  routes.patch("/repos/:owner/:repo/git/refs/heads/:branch{.+}", async (c) => {
    const { repository, directory } = await open(context, c, "write");
    const branch = c.req.param("branch");
    const { sha, force } = await readBody(c, moveSchema);
    const before = await branchCommit(directory, branch);
    if (before === null) throw new RestError(422, "Reference does not exist");
    if (!(await objectExists(directory, sha, "commit"))) throw new RestError(422, "Object does not exist");
    if (!force && !(await isAncestor(directory, before, sha))) throw new RestError(422, "Update is not a fast forward");
    if (!(await updateRef(directory, `refs/heads/${branch}`, sha, before)))
      throw new RestError(409, "Reference was moved");
    await reconcileRefs(context, repository.id, actingAccount(context, c.get("caller")));
    return c.json(refAnswer(`refs/heads/${branch}`, sha));
  });

  return routes;
}
