import { Hono } from "hono";
import { z } from "zod";
import type { ForgeContext } from "../forge.context.ts";
import { branchCommit, isAncestor, listRefs } from "../git/bare-repository.ts";
import { objectExists, treePath, updateRef, writeBlob, writeCommit, writeTree } from "../git/objects.ts";
import { authorOf, ensureDirectory } from "../repositories.ts";
import { reconcileRefs } from "../webhooks/reconcile-refs.ts";
import {
  type Access,
  actingAccount,
  authorizeByName,
  type RestContext,
  type RestEnvironment,
  repositoryName,
} from "./caller.ts";
import { RestError, readBody } from "./rest-request.ts";

const shaSchema = z.string().regex(/^[0-9a-f]{40}$/, "is not a full sha");
const fileSchema = z.object({
  path: z.string().min(1),
  mode: z.enum(["100644", "100755"]).default("100644"),
  content: z.string(),
});
const treeSchema = z.object({ tree: z.array(fileSchema).min(1).max(1000) });
const commitSchema = z.object({
  message: z.string().min(1),
  tree: shaSchema,
  parents: z.array(shaSchema).max(10).default([]),
});
const moveSchema = z.object({ sha: shaSchema });

async function writeFile(directory: string, { path: given, mode, content }: z.infer<typeof fileSchema>) {
  const path = treePath(given);
  // Clients refuse to check out a tree that contains `.git`.
  if (path === null || path !== given || path.split("/").some((part) => part.toLowerCase() === ".git"))
    throw new RestError(422, `tree.path contains a malformed path component: ${given}`);
  return { path, mode, sha: await writeBlob(directory, content) };
}

/** The repository, if its git database can be used: like GitHub, it can't while the repository is empty. */
async function open(context: ForgeContext, c: RestContext, access: Access) {
  const repository = authorizeByName(context, c.get("caller"), repositoryName(c), "contents", access);
  const directory = await ensureDirectory(context, repository);
  if ((await listRefs(directory)).size === 0) throw new RestError(409, "Git Repository is empty.");
  return { repository, directory };
}

const refAnswer = (branch: string, sha: string) => ({ ref: `refs/heads/${branch}`, object: { type: "commit", sha } });

/**
 * The parts of GitHub's git database API that committing files needs: whole trees, commits, and fast-forwarding
 * branches. Moving a branch sends webhooks like a push.
 */
export function gitDataRoutes(context: ForgeContext): Hono<RestEnvironment> {
  const routes = new Hono<RestEnvironment>();

  routes.post("/repos/:owner/:repo/git/trees", async (c) => {
    const { directory } = await open(context, c, "write");
    const { tree } = await readBody(c, treeSchema);
    const files = await Promise.all(tree.map((file) => writeFile(directory, file)));
    return c.json({ sha: await writeTree(directory, files) }, 201);
  });

  routes.post("/repos/:owner/:repo/git/commits", async (c) => {
    const { directory } = await open(context, c, "write");
    const body = await readBody(c, commitSchema);
    if (!(await objectExists(directory, body.tree, "tree"))) throw new RestError(422, "Tree SHA does not exist");
    for (const parent of body.parents)
      if (!(await objectExists(directory, parent, "commit"))) throw new RestError(422, "Parent SHA does not exist");
    const author = authorOf(actingAccount(context, c.get("caller")));
    return c.json({ sha: await writeCommit(directory, { ...body, author }), message: body.message }, 201);
  });

  routes.get("/repos/:owner/:repo/git/ref/heads/:branch{.+}", async (c) => {
    const { directory } = await open(context, c, "read");
    const branch = c.req.param("branch");
    const sha = await branchCommit(directory, branch);
    if (sha === null) throw new RestError(404, "Not Found");
    return c.json(refAnswer(branch, sha));
  });

  routes.patch("/repos/:owner/:repo/git/refs/heads/:branch{.+}", async (c) => {
    const { repository, directory } = await open(context, c, "write");
    const branch = c.req.param("branch");
    const { sha } = await readBody(c, moveSchema);
    const before = await branchCommit(directory, branch);
    if (before === null) throw new RestError(422, "Reference does not exist");
    if (!(await objectExists(directory, sha, "commit"))) throw new RestError(422, "Object does not exist");
    if (!(await isAncestor(directory, before, sha))) throw new RestError(422, "Update is not a fast forward");
    if (!(await updateRef(directory, `refs/heads/${branch}`, sha, before)))
      throw new RestError(409, "Reference was moved");
    await reconcileRefs(context, repository.id, actingAccount(context, c.get("caller")));
    return c.json(refAnswer(branch, sha));
  });

  return routes;
}
