import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";

const run = promisify(execFile);

export type PodLayers = {
  /** Digests of archives, by the digests under which their directories are known. */
  readonly digests: Readonly<Record<string, string>>;
  address(digest: string): Promise<string>;
  /** See `RemoteLayers`. Layers with names aren't looked for. */
  receive(
    digest: string,
    options: { readonly upload: (address: { url: string; headers: Record<string, string> }) => Promise<void> },
  ): Promise<{ digest: string }>;
  close(): Promise<void>;
};

/** Serves directories as the archives of layers, to pods. `host`: of this machine, as pods see it. */
export async function servePodLayers(directories: Readonly<Record<string, string>>, host: string): Promise<PodLayers> {
  const archives = new Map<string, Buffer>();
  const digests: Record<string, string> = {};
  for (const [name, directory] of Object.entries(directories)) {
    const file = `${directory}.tar.zst`;
    await run("tar", ["--create", "--zstd", "--file", file, "--directory", directory, "."]);
    const bytes = await readFile(file);
    const digest = createHash("sha256").update(bytes).digest("hex");
    archives.set(digest, bytes);
    digests[name] = digest;
  }
  const server: Server = createServer((request, response) => {
    const digest = new URL(request.url ?? "/", "http://pods").pathname.slice(1);
    if (request.method === "PUT") {
      void buffer(request).then((bytes) => {
        archives.set(digest, bytes);
        response.end();
      });
      return;
    }
    const archive = archives.get(digest);
    if (archive === undefined) response.writeHead(404).end();
    else response.end(archive);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const urlOf = (digest: string) => `http://${host}:${port}/${digest}`;
  return {
    digests,
    address: async (digest) => urlOf(digest),
    async receive(digest, { upload }) {
      await upload({ url: urlOf(digest), headers: {} });
      const bytes = archives.get(digest) ?? Buffer.of();
      if (createHash("sha256").update(bytes).digest("hex") !== digest) throw new Error("Other bytes arrived.");
      return { digest };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
