import { type Service, serveGit } from "../http-backend.ts";
import { ensureRepository, listRefs, storeSettings } from "./bare-repository.ts";

export type ServeOptions = {
  readonly directory: string;
  /** Of a repository without commits. */
  readonly defaultBranch: string;
  /** What follows the repository's URL in the request's path. */
  readonly service: Service;
  readonly mayWrite: boolean;
  /** Called with full names of the branches and tags that a push has changed, before git's client has its answer. */
  readonly onPush: (refs: readonly string[]) => Promise<void>;
  readonly maxPushBytes: number;
};

/**
 * Whether a request pushes: its answer must be refused to who may only read. Null: it is none of the smart protocol, whose
 * predecessor reads a repository's files by their names.
 */
export function accessOf(request: Request, service: string): "read" | "write" | null {
  const { searchParams } = new URL(request.url);
  const isListing = service === "info/refs" && request.method === "GET";
  const asked = isListing ? searchParams.get("service") : request.method === "POST" ? service : null;
  if (asked === "git-upload-pack") return "read";
  return asked === "git-receive-pack" ? "write" : null;
}

/**
 * Serves git's smart HTTP protocol of a stored repository. A push is checked as it comes (`fsck`), is refused above its
 * limit, and is on the disk before the client has its answer.
 */
export async function serveRepository(request: Request, options: ServeOptions): Promise<Response> {
  const { directory, service, mayWrite, maxPushBytes } = options;
  await ensureRepository(directory, options.defaultBranch);
  const isPush = service === "git-receive-pack";
  const before = isPush ? await listRefs(directory) : null;
  return serveGit({
    ...{ directory, service, request },
    settings: [
      ...storeSettings,
      ["http.getanyfile", "false"],
      ["http.uploadpack", "true"],
      ["http.receivepack", String(mayWrite)],
      ["receive.maxInputSize", String(maxPushBytes)],
      ["receive.fsckObjects", "true"],
      // Common in old repositories, and harmless.
      ["receive.fsck.zeroPaddedFilemode", "ignore"],
      ["receive.fsck.badTimezone", "ignore"],
      ["receive.fsck.missingSpaceBeforeDate", "ignore"],
      ["uploadpack.allowFilter", "true"],
    ],
    user: mayWrite ? "towpath" : null,
    afterwards: async () => {
      if (before === null) return;
      const after = await listRefs(directory);
      const names = new Set([...before.keys(), ...after.keys()]);
      const changed = [...names].filter((name) => before.get(name) !== after.get(name)).toSorted();
      if (changed.length > 0) await options.onPush(changed);
    },
  });
}
