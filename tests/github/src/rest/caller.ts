import { createPublicKey } from "node:crypto";
import type { Context } from "hono";
import { jwtVerify } from "jose";
import type { ForgeContext } from "../forge.context.ts";
import { listBranches, resolveCommit } from "../git/bare-repository.ts";
import { ensureDirectory } from "../repositories.ts";
import { type Account, accountById } from "../state/accounts.ts";
import { coversRepository, type Installation, installationById } from "../state/installations.ts";
import { findRepository, type Repository } from "../state/repositories.ts";
import { accountOfUserToken, grantOfInstallationToken, type InstallationGrant } from "../state/tokens.ts";
import { RestError } from "./rest-request.ts";

export type Caller =
  | { readonly kind: "anonymous" }
  | { readonly kind: "app" }
  | { readonly kind: "installation"; readonly installation: Installation; readonly grant: InstallationGrant }
  | { readonly kind: "user"; readonly account: Account };

export type RestEnvironment = { Variables: { caller: Caller } };
export type RestContext = Context<RestEnvironment>;

export type Permission =
  | "administration"
  | "checks"
  | "contents"
  | "deployments"
  | "issues"
  | "metadata"
  | "pull_requests"
  | "statuses";
export type Access = "read" | "write";

/** Verifies the App's JWT: RS256, at most ten minutes long, issued by its id or client id. */
async function isAppJwt(context: ForgeContext, token: string): Promise<boolean> {
  try {
    const { app } = context.config;
    const key = createPublicKey(app.privateKey);
    const options = { algorithms: ["RS256"], issuer: [app.id, app.clientId], requiredClaims: ["iat", "exp"] };
    const { payload } = await jwtVerify(token, key, options);
    return (payload.exp ?? 0) - (payload.iat ?? 0) <= 660;
  } catch {
    return false;
  }
}

/** The installation that a token was issued for, or null if either is gone. */
export function installationCaller(
  context: ForgeContext,
  token: string,
): Extract<Caller, { kind: "installation" }> | null {
  const grant = grantOfInstallationToken(context.database, token);
  const installation = grant && installationById(context.database, grant.installationId);
  return grant && installation ? { kind: "installation", installation, grant } : null;
}

/** The caller, by the Authorization header. Throws 401 for an invalid credential. */
export async function identify(context: ForgeContext, authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return { kind: "anonymous" };
  const token = /^(?:bearer|token) +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw new RestError(401, "Bad credentials");
  const installation = installationCaller(context, token);
  if (installation) return installation;
  const account = accountOfUserToken(context.database, token);
  if (account) return { kind: "user", account };
  if (token.split(".").length === 3 && (await isAppJwt(context, token))) return { kind: "app" };
  throw new RestError(401, "Bad credentials");
}

/**
 * Whether an installation token gives access to the repository: the installation covers it and the token isn't narrowed
 * to others.
 */
export function grantReaches(caller: Extract<Caller, { kind: "installation" }>, repository: Repository): boolean {
  const { installation, grant } = caller;
  if (!coversRepository(installation, repository)) return false;
  return grant.repositoryIds === null || grant.repositoryIds.includes(repository.id);
}

export function grantAllows(grant: InstallationGrant, permission: Permission, access: Access): boolean {
  const given = grant.permissions[permission];
  return given === "write" || given === access;
}

/**
 * Throws unless the caller may access the repository: 404 without access, as if it didn't exist; 403 without the
 * permission. Unlike on GitHub, an installation token can't read public repositories outside its own: a stand-in should
 * reveal a token that isn't narrowed enough.
 */
export function authorize(
  caller: Caller,
  repository: Repository | null,
  permission: Permission,
  access: Access,
): Repository {
  if (repository === null || caller.kind === "app") throw new RestError(404, "Not Found");
  if (caller.kind === "installation") {
    if (!grantReaches(caller, repository)) throw new RestError(404, "Not Found");
    if (permission === "metadata" || grantAllows(caller.grant, permission, access)) return repository;
    throw new RestError(403, "Resource not accessible by integration");
  }
  const isOwner = caller.kind === "user" && caller.account.id === repository.owner_id;
  if (isOwner) return repository;
  if (repository.private) throw new RestError(404, "Not Found");
  if (access === "read") return repository;
  throw caller.kind === "user"
    ? new RestError(403, "Must have admin rights to Repository.")
    : new RestError(401, "Requires authentication");
}

export function authorizeByName(
  context: ForgeContext,
  caller: Caller,
  name: { owner: string; repo: string },
  permission: Permission,
  access: Access,
): Repository {
  return authorize(caller, findRepository(context.database, name.owner, name.repo), permission, access);
}

/** The author of an installation's changes: the account that it belongs to. */
export function actingAccount(context: ForgeContext, caller: Caller): Account {
  const account =
    caller.kind === "user"
      ? caller.account
      : caller.kind === "installation"
        ? accountById(context.database, caller.installation.account_id)
        : null;
  if (account === null) throw new RestError(401, "Requires authentication");
  return account;
}

/** The repository in the path, if the caller may read it. */
export function reading(context: ForgeContext, c: RestContext, permission: Permission = "contents"): Repository {
  return authorizeByName(context, c.get("caller"), repositoryName(c), permission, "read");
}

/** A commit of the repository. GitHub answers differently for an empty repository, except for queries by path. */
export async function commitOf(
  context: ForgeContext,
  c: RestContext,
  ref: string,
): Promise<{ repository: Repository; directory: string; sha: string }> {
  const repository = reading(context, c);
  const directory = await ensureDirectory(context, repository);
  const sha = await resolveCommit(directory, ref);
  if (sha !== null) return { repository, directory, sha };
  const isEmpty = (await listBranches(directory)).size === 0 && c.req.param("path") === undefined;
  throw isEmpty ? new RestError(409, "Git Repository is empty.") : new RestError(404, "Not Found");
}

/** Requires the App itself. */
export function requireApp(c: RestContext): void {
  if (c.get("caller").kind !== "app") throw new RestError(401, "A JSON web token could not be decoded");
}

/** Requires a user who has authorized the App. */
export function requireUser(c: RestContext): Account {
  const caller = c.get("caller");
  if (caller.kind === "user") return caller.account;
  throw new RestError(caller.kind === "anonymous" ? 401 : 403, "Requires authentication as a user");
}

/** Owner and name from the path. */
export function repositoryName(c: RestContext): { owner: string; repo: string } {
  return { owner: c.req.param("owner") ?? "", repo: c.req.param("repo") ?? "" };
}
