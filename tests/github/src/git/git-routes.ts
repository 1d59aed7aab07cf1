import { join } from "node:path";
import { type Service, serveGit } from "@towpath/git/http-backend";
import { type Context, Hono } from "hono";
import { auth as readBasicAuth } from "hono/utils/basic-auth";
import type { ForgeContext } from "../forge.context.ts";
import { ensureDirectory } from "../repositories.ts";
import { type Access, type Caller, grantAllows, grantReaches, installationCaller } from "../rest/caller.ts";
import { type Account, findAccount } from "../state/accounts.ts";
import { findRepository, type Repository } from "../state/repositories.ts";
import { accountOfUserToken, pushToken, sameSecret } from "../state/tokens.ts";
import { reconcileRefs } from "../webhooks/reconcile-refs.ts";

type Identity =
  | { readonly kind: "anonymous" }
  | { readonly kind: "account"; readonly account: Account }
  | { readonly kind: "installation"; readonly caller: Extract<Caller, { kind: "installation" }> };

/**
 * Identifies the caller by the password: an account's push token, a user's App token, or an installation token (user
 * `x-access-token`). Null for any other.
 */
function identityOf(context: ForgeContext, request: Request): Identity | null {
  if (!request.headers.has("authorization")) return { kind: "anonymous" };
  const basic = readBasicAuth(request);
  if (basic === undefined) return null;
  const named = findAccount(context.database, basic.username);
  const isPushToken = named && sameSecret(basic.password, pushToken(context.config.app.clientSecret, named));
  const account = isPushToken ? named : accountOfUserToken(context.database, basic.password);
  if (account) return { kind: "account", account };
  const caller = installationCaller(context, basic.password);
  return caller && { kind: "installation", caller };
}

function may(identity: Identity, repository: Repository, access: Access): boolean {
  if (identity.kind === "installation") {
    const { caller } = identity;
    return grantReaches(caller, repository) && grantAllows(caller.grant, "contents", access);
  }
  if (identity.kind === "account" && identity.account.id === repository.owner_id) return true;
  return access === "read" && !repository.private;
}

const plain = (status: number, text: string, headers: Record<string, string> = {}) =>
  new Response(`${text}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });

/** Asks for credentials even for unknown repositories, so that names of private ones can't be guessed. */
function refuse(identity: Identity | null, repository: Repository | null): Response {
  if (identity === null || identity.kind === "anonymous") {
    return plain(401, "A credential is needed.", { "www-authenticate": 'Basic realm="Towpath Forge"' });
  }
  if (repository && may(identity, repository, "read")) return plain(403, "Only the owner may push here.");
  return plain(404, "There is no such repository.");
}

async function handle(context: ForgeContext, c: Context, service: Service): Promise<Response> {
  const asked = service === "info/refs" ? c.req.query("service") : service;
  // A request without a service is the dumb protocol's, which reads the repository's files by name.
  if (asked !== "git-upload-pack" && asked !== "git-receive-pack") {
    return plain(403, "This server speaks git's smart protocol only.");
  }
  const access = asked === "git-receive-pack" ? "write" : "read";
  const name = (c.req.param("repository") ?? "").replace(/\.git$/, "");
  const repository = findRepository(context.database, c.req.param("owner") ?? "", name);
  const identity = identityOf(context, c.req.raw);
  if (identity === null || repository === null || !may(identity, repository, access)) {
    return refuse(identity, repository);
  }
  const pusher = identity.kind === "account" ? identity.account : findAccount(context.database, repository.owner);
  return serveGit({
    directory: await ensureDirectory(context, repository),
    settings: [
      // As on GitHub, heads of pull requests can be fetched and not pushed.
      ["receive.hideRefs", "refs/pull"],
      // Tests write rules for pushes as git's hooks.
      ["core.hooksPath", join(context.directory, "hooks")],
    ],
    service,
    request: c.req.raw,
    user: access === "write" ? (pusher?.login ?? null) : null,
    afterwards: async () => {
      if (service === "git-receive-pack") await reconcileRefs(context, repository.id, pusher);
      return null;
    },
  });
}

/** Clone, fetch and push at `/{owner}/{repository}.git`, over git's smart HTTP protocol only. */
export function gitRoutes(context: ForgeContext): Hono {
  const routes = new Hono();
  const repository = "/:owner/:repository{[A-Za-z0-9._-]+\\.git}";
  const handler = (service: Service) => (c: Context) => handle(context, c, service);
  routes.get(`${repository}/info/refs`, handler("info/refs"));
  routes.post(`${repository}/git-upload-pack`, handler("git-upload-pack"));
  routes.post(`${repository}/git-receive-pack`, handler("git-receive-pack"));
  return routes;
}
