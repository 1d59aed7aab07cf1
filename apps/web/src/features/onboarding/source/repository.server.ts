import { asTowpathError, notFound } from "@towpath/core/errors";
import { findRepositoryForGit, receivePush } from "@towpath/core/sources/repository";
import { services } from "~/compose.server.ts";
import { gitContext } from "~/http/caller.server.ts";

type Call = { readonly request: Request; readonly params: Params };
type Params = { readonly orgSlug: string; readonly repository: string; readonly _splat?: string | undefined };

/**
 * Git's smart HTTP protocol at `/git/{organization}/{name}.git` (SRC-3), with a key that REST accepts. A session's
 * cookie is ignored, so that no page can make somebody's browser push.
 */
export async function serveGitRepository({ request, params }: Call): Promise<Response> {
  try {
    return await serve(request, params);
  } catch (thrown) {
    return refusal(thrown, request);
  }
}

async function serve(request: Request, { orgSlug, repository, _splat: path = "" }: Params): Promise<Response> {
  const { repositoryStore } = services();
  const asked = repositoryStore.parseGitRequest(request, path);
  if (asked === null) throw notFound("page: this is the address of a Git repository, for git clone");
  const ctx = await gitContext(request);
  const name = repository.replace(/\.git$/, "");
  const found = await findRepositoryForGit({ ctx, input: { orgSlug, name, access: asked.access } });
  // Only the first request: git doesn't follow later redirects, in a push that began before the organization was
  // renamed.
  if (found.orgSlug !== orgSlug && request.method === "GET") return moved(request, { ...found, path });
  return repositoryStore.serve(request, {
    id: found.id,
    organizationId: found.organizationId,
    defaultBranch: found.defaultBranch,
    asked,
    onPush: (refs) => receivePush({ ctx, input: { repositoryId: found.id, refs } }),
  });
}

/** Git follows to the new address, and prints it. The location is relative, so that a key in the URL stays with it. */
function moved(
  request: Request,
  { orgSlug, name, path }: { readonly orgSlug: string; readonly name: string; readonly path: string },
): Response {
  const address = `/git/${orgSlug}/${name}.git`;
  const text = `The organization was renamed. The repository is now at ${services().config.baseUrl}${address}\n`;
  const { search } = new URL(request.url);
  const location = `${address}/${path}${search}`;
  return new Response(text, {
    status: 301,
    headers: { location, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}

/** As plain text, which git prints after `remote:`. */
function refusal(thrown: unknown, request: Request): Response {
  const error = asTowpathError(thrown);
  if (error.code === "internal") {
    services().log.error({ err: thrown, path: new URL(request.url).pathname }, "a request of git failed");
  }
  const headers = new Headers({ "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  if (error.retryAfterSeconds !== undefined) headers.set("retry-after", String(error.retryAfterSeconds));
  // Makes git ask the person, or its credential helper, for a password.
  if (error.code === "unauthenticated") headers.set("www-authenticate", 'Basic realm="Towpath"');
  return new Response(`${error.message}\n`, { status: error.httpStatus, headers });
}
