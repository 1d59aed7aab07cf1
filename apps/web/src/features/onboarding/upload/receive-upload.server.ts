import { authorize, authorizeProject } from "@towpath/core/authorize";
import type { FullContext } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { getProject } from "@towpath/core/projects/project";
import { deployFiles, uploadCommit } from "@towpath/core/sources/repository";
import { deployFilesSchema } from "@towpath/core/sources/repository/schema";
import { z } from "zod";
import { services } from "~/compose.server.ts";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { signedInContext } from "~/http/caller.server.ts";
import { isSameOrigin, parseJsonObject } from "~/http/request.server.ts";

/** Of the settings before the archive: variables are the longest of them. */
const maxSettingsBytes = 1024 * 1024;
const lineFeed = 10;

/**
 * POST /api/organizations/{orgSlug}/uploads: deploys an archive's files as a server (SRC-4). The body is a line of JSON
 * with the server's settings, followed by the archive, so that one request can be streamed.
 *
 * @throws TowpathError as `deployFiles`
 */
export async function receiveNewServer(request: Request, { orgSlug }: { readonly orgSlug: string }): Promise<Response> {
  const ctx = await ownContext(request);
  await authorize(ctx, "project.create", { orgSlug });
  const { line, rest } = await firstLine(bodyOf(request));
  const settings = parseInput(deployFilesSchema.omit({ trigger: true }), parseJsonObject(line));
  const input = { ...settings, orgSlug, trigger: "import", archive: rest } as const;
  const { project, build, leftOut } = await deployFiles({ ctx, input });
  return Response.json({ projectName: project.pathName, buildId: build.id, leftOut });
}

const versionSchema = z.object({ expectedHead: z.string().default(""), message: z.string().max(10_000).optional() });

/**
 * POST /api/projects/{orgSlug}/{projectName}/uploads?expectedHead=: commits an archive's files to the branch that goes
 * live if its head is still this commit; else `conflict`.
 *
 * @throws TowpathError as `uploadCommit`; `invalid_input` for a server that isn't built from a repository of this instance
 */
export async function receiveNewVersion(request: Request, key: ProjectKey): Promise<Response> {
  const ctx = await ownContext(request);
  await authorizeProject(ctx, "build.start", key);
  const { expectedHead, message } = parseInput(versionSchema, Object.fromEntries(new URL(request.url).searchParams));
  const { source, defaultBranch } = await getProject({ ctx, input: key });
  if (source?.kind !== "repository")
    throw new TowpathError("invalid_input", "This server isn't built from a repository of this instance.");
  const place = { orgSlug: key.orgSlug, name: source.name, branch: defaultBranch };
  // None: the branch must not have a commit.
  const { commit, changed, leftOut } = await uploadCommit({
    ctx,
    input: { ...place, message, expectedHead: expectedHead || null, archive: bodyOf(request) },
  });
  return Response.json({ commitSha: commit.sha, changed, leftOut });
}

/**
 * @throws TowpathError `unauthenticated`; `forbidden` for a request of another site's page, which also has the cookie
 */
async function ownContext(request: Request): Promise<FullContext> {
  if (!isSameOrigin(request, services().config.baseUrl))
    throw new TowpathError("forbidden", "Forbidden: not from this site.");
  return (await signedInContext(request.headers)).ctx;
}

function bodyOf({ body }: Request): ReadableStream<Uint8Array> {
  if (body === null) throw new TowpathError("invalid_input", "Nothing was uploaded.");
  return body;
}

/** The text before the first line feed, and the stream of the rest. */
async function firstLine(
  body: ReadableStream<Uint8Array>,
): Promise<{ readonly line: Uint8Array; readonly rest: ReadableStream<Uint8Array> }> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    const end = value?.indexOf(lineFeed) ?? -1;
    if (value) chunks.push(end < 0 ? value : value.subarray(0, end));
    size += chunks.at(-1)?.length ?? 0;
    if (done || size > maxSettingsBytes) throw new TowpathError("invalid_input", "The upload has no settings.");
    if (value && end >= 0) return { line: Buffer.concat(chunks), rest: restOf(reader, value.subarray(end + 1)) };
  }
}

const restOf = (reader: ReadableStreamDefaultReader<Uint8Array>, first: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      if (first.length > 0) controller.enqueue(first);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
