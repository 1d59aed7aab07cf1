import { asTowpathError, notFound, TowpathError } from "@towpath/core/errors";
import { type Service, serveGit } from "../http-backend.ts";
import { asStoreProblem, listRefs, storeSettings } from "./bare-repository.ts";
import { explainRefusal } from "./refused-push.ts";
import type { RepositoryChange, RepositoryStorage } from "./storage.ts";

export type ServeOptions = {
  readonly storage: RepositoryStorage;
  readonly id: string;
  readonly organizationId: string;
  /** Of a repository without commits. */
  readonly defaultBranch: string;
  /** As `parseGitRequest` found it; the caller has checked that it may. */
  readonly asked: GitRequest;
  /**
   * Called with full names of the branches and tags that a push changes, before git's client gets its answer. A
   * TowpathError refuses the push.
   */
  readonly onPush: (refs: readonly string[]) => Promise<void>;
  readonly maxPushBytes: number;
  readonly onProblem: (error: unknown) => void;
};

/** A request of git's client. `access`: the access it needs. */
export type GitRequest = { readonly service: Service; readonly access: "read" | "write" };

/**
 * Parses a request to a repository. `path`: the part after the repository's URL. Null: it isn't of the smart protocol,
 * but for example of its predecessor, which reads files by name.
 */
export function parseGitRequest(request: Request, path: string): GitRequest | null {
  const isListing = path === "info/refs" && request.method === "GET";
  const asked = isListing ? new URL(request.url).searchParams.get("service") : request.method === "POST" ? path : null;
  if (asked !== "git-upload-pack" && asked !== "git-receive-pack") return null;
  return { service: isListing ? "info/refs" : asked, access: asked === "git-receive-pack" ? "write" : "read" };
}

/**
 * Serves git's smart HTTP protocol of a stored repository. A push is checked as it arrives (`fsck`), is refused above
 * its limit, and is stored before the client gets its answer.
 */
export async function serveRepository(request: Request, options: ServeOptions): Promise<Response> {
  const { id, organizationId } = options;
  const ofOrganization = [...running].filter((other) => other.organizationId === organizationId);
  const ofRepository = ofOrganization.filter((other) => other.id === id);
  const isFull = running.size >= maxRunning || ofOrganization.length >= maxOfOrganization;
  if (isFull || ofRepository.length >= maxOfRepository) return tooMany();
  const transfer = { id, organizationId };
  running.add(transfer);
  const ended = () => running.delete(transfer);
  try {
    return await serve(request, options, ended);
  } catch (error) {
    ended();
    throw error;
  }
}

/** In this process: each is a process of git that packs or checks objects. */
const maxRunning = 16;
/** Lower than the total, so that slow clients leave some for other organizations and repositories. */
const maxOfOrganization = 8;
const maxOfRepository = 4;
/** Transfers that run. */
const running = new Set<Pick<ServeOptions, "id" | "organizationId">>();

const tooMany = () =>
  new Response("Too many clones and pushes are running. Try again in a moment.\n", {
    status: 503,
    headers: { "content-type": "text/plain; charset=utf-8", "retry-after": "5" },
  });

async function serve(request: Request, options: ServeOptions, ended: () => unknown): Promise<Response> {
  const { storage, id, defaultBranch, maxPushBytes } = options;
  const { service, access } = options.asked;
  const common = { service, request, user: access === "write" ? "towpath" : null };
  const settings = [
    ...storeSettings,
    ["http.getanyfile", "false"],
    ["http.uploadpack", "true"],
    ["http.receivepack", String(access === "write")],
    ["receive.maxInputSize", String(maxPushBytes)],
    ["receive.fsckObjects", "true"],
    // Common in old repositories, and harmless.
    ["receive.fsck.zeroPaddedFilemode", "ignore"],
    ["receive.fsck.badTimezone", "ignore"],
    ["receive.fsck.missingSpaceBeforeDate", "ignore"],
    ["uploadpack.allowFilter", "true"],
  ] as const;
  if (service !== "git-receive-pack") {
    const found = await storage.read(id);
    if (found === null) await storage.create(id, defaultBranch);
    const directory = found ?? (await storage.read(id));
    if (directory === null) throw notFound("repository");
    const afterwards = async () => {
      ended();
      return null;
    };
    return serveGit({ ...common, directory, settings, afterwards });
  }
  const change = await storage.change(id, defaultBranch);
  try {
    const before = await listRefs(change.directory);
    const afterwards = () =>
      storePush(change, before, options).finally(async () => {
        ended();
        await change.close();
      });
    const answer = await serveGit({ ...common, directory: change.directory, settings, afterwards });
    if (answer.body === null) return answer;
    const { status, headers } = answer;
    return new Response(answer.body.pipeThrough(explainRefusal(maxPushBytes)), { status, headers });
  } catch (error) {
    await change.close();
    throw error;
  }
}

/** Resolves to why the push is refused after all; null: it is stored. */
async function storePush(
  change: RepositoryChange,
  before: ReadonlyMap<string, string>,
  { onPush, onProblem }: ServeOptions,
): Promise<string | null> {
  let after: ReadonlyMap<string, string>;
  try {
    after = await listRefs(change.directory);
    await change.store();
  } catch (thrown) {
    const error = asStoreProblem(thrown);
    if (!(error instanceof TowpathError)) onProblem(error);
    return asTowpathError(error).message;
  }
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter((name) => before.get(name) !== after.get(name)).toSorted();
  try {
    if (changed.length > 0) await onPush(changed);
    return null;
  } catch (error) {
    // Such as: it continues elsewhere since then. The commits are stored, but nothing is built.
    if (error instanceof TowpathError) return error.message;
    throw error;
  }
}
