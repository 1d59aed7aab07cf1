import { notFound, TowpathError } from "@towpath/core/errors";
import { gitContext } from "./caller.server.ts";
import { respond } from "./request.server.ts";
import { createForgeRepository } from "./rest/forge-repositories.server.ts";

/** What Git's clients ask, with the content type of its requests. */
const services = ["git-upload-pack", "git-receive-pack"];

const asked = ["content-type", "content-encoding", "content-length", "accept", "git-protocol"];
const answered = ["content-type", "cache-control"];

const copyOf = (from: Headers, names: readonly string[]) =>
  new Headers(names.flatMap((name): [string, string][] => (from.has(name) ? [[name, from.get(name) ?? ""]] : [])));

/**
 * Passes Git's smart HTTP protocol on to the local forge, for who may build the server of this name or create it: so that
 * a terminal elsewhere pushes with its API key, and needs to reach this address only (OPS-4).
 */
export const gitProxy = (
  request: Request,
  { orgSlug, repository, _splat = "" }: { orgSlug: string; repository: string; _splat?: string | undefined },
): Promise<Response> =>
  respond(
    request,
    async () => {
      const { search, searchParams } = new URL(request.url);
      const service = _splat === "info/refs" ? searchParams.get("service") : _splat;
      const name = /^(.+)\.git$/.exec(repository)?.[1];
      if (!name || !services.includes(service ?? "")) throw notFound("repository");
      const ctx = await gitContext(request);
      const { pushUrl } = await createForgeRepository(ctx, { name, organization: orgSlug });
      const target = new URL(pushUrl);
      const credential = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
      const headers = copyOf(request.headers, asked);
      headers.set("authorization", `Basic ${Buffer.from(credential).toString("base64")}`);
      const hasBody = request.method === "POST";
      const response = await fetch(`${target.origin}${target.pathname}/${_splat}${search}`, {
        method: request.method,
        headers,
        signal: request.signal,
        ...(hasBody && { body: request.body, duplex: "half" }),
      } as RequestInit).catch((cause: unknown) => {
        throw new TowpathError("upstream_unavailable", "The local forge does not answer. Try again in a moment.", {
          cause,
        });
      });
      return new Response(response.body, { status: response.status, headers: copyOf(response.headers, answered) });
    },
    // Git asks a person for a password at this challenge.
    { "www-authenticate": 'Basic realm="towpath"' },
  );
