import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A connection to a database that a test can cut. */
export type DatabaseLink = {
  /** Connection URL through the link. */
  readonly url: string;
  /** Ends all connections and refuses new ones, like a stopped database. */
  cut: () => Promise<void>;
  /** Accepts bytes and connections and forwards nothing, like a hanging database or a network that drops packets. */
  silence: () => void;
  /** Forwards everything again, including what was held back. */
  restore: () => Promise<void>;
  close: () => Promise<void>;
};

/** `url`: of a database on a unix socket. */
export async function openDatabaseLink(url: string): Promise<DatabaseLink> {
  const target = new URL(url.replace(/@\//, "@localhost/")).searchParams;
  const port = target.get("port") ?? "5432";
  const real = join(target.get("host") ?? "", `.s.PGSQL.${port}`);
  const directory = await mkdtemp(join(tmpdir(), "tp-db-"));
  const open = new Set<Socket>();
  let isSilent = false;
  let server: Server | null = null;

  const accept = (client: Socket) => {
    const upstream = connect(real);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from
        .on("error", () => {})
        .on("close", () => {
          open.delete(from);
          to.destroy();
        });
      from.on("data", (chunk) => to.write(chunk));
      if (isSilent) from.pause();
    }
  };
  const listen = async () => {
    const made = createServer(accept);
    server = made;
    await new Promise<void>((resolve, reject) =>
      made.once("error", reject).listen(join(directory, `.s.PGSQL.${port}`), resolve),
    );
  };
  const cut = async () => {
    const closed = new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
    server = null;
    for (const socket of open) socket.destroy();
    await closed;
  };
  await listen();
  return {
    url: url.replace(/host=[^&]*/, `host=${encodeURIComponent(directory)}`),
    cut,
    silence() {
      isSilent = true;
      for (const socket of open) socket.pause();
    },
    async restore() {
      isSilent = false;
      for (const socket of open) socket.resume();
      if (!server) await listen();
    },
    async close() {
      await cut();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
