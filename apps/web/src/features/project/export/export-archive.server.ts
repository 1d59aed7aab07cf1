import type { FullContext } from "@towpath/core/context";
import { exportServer } from "@towpath/core/delivery/export";
import { TowpathError } from "@towpath/core/errors";
import { writeExport } from "@towpath/export";
import { services } from "~/compose.server.ts";

export const exportMediaType = "application/x-tar";

// Bundled at build time, so that the running server needs no checkout.
const [harness, starter] = [
  import.meta.glob<string>("../../../../../../python/towpath_runner/towpath_runner/*.py", {
    query: "?raw",
    import: "default",
    eager: true,
  }),
  import.meta.glob<string>("../../../../../../python/export/*.py", { query: "?raw", import: "default", eager: true }),
];

const fileName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The files of an export's directory `runner`, by their paths in it. */
const runner: ReadonlyMap<string, string> = new Map([
  ...Object.entries(harness).map(([path, text]) => [`towpath_runner/${fileName(path)}`, text] as const),
  ...Object.entries(starter).map(([path, text]) => [fileName(path), text] as const),
]);

/**
 * What is live of a server as a tar (OPS-8), without values of variables.
 *
 * @throws TowpathError as `exportServer`; `not_found` when the live version's files are lost
 */
export async function exportArchive(
  ctx: FullContext,
  input: Parameters<typeof exportServer>[0]["input"],
): Promise<Response> {
  const { artifacts, log } = services();
  const { repositoryId, ...exported } = await exportServer({ ctx, input });
  const { name } = exported.document;
  const { dependencies, code } = exported.layers;
  for (const digest of [dependencies, code]) if (!(await artifacts.has(digest))) throw lost(name);
  const history = repositoryId === null ? null : await ctx.instanceRepositories.bundle(repositoryId);
  const archive = writeExport({
    ...exported,
    history,
    runner,
    openLayer: (digest) => artifacts.get(digest),
    onProblem: (error) => log.error({ err: error, server: name }, "an export broke off"),
  });
  return new Response(bodyOf(archive), {
    headers: { "content-type": exportMediaType, "content-disposition": `attachment; filename="${name}.tar"` },
  });
}

/** Read as it is sent, so that neither side holds all of it. */
function bodyOf(archive: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = archive[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void (await chunks.return?.()),
  });
}

const lost = (name: string) =>
  new TowpathError(
    "not_found",
    `The files of the live version of ${name} are lost and are being built again. Export it once that has ended.`,
  );
