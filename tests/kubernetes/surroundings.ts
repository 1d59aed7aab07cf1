import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { freePort } from "@towpath/role/testing";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { type Cluster, nodeAddress } from "./cluster.ts";
import { type ProcessGroup, until } from "./processes.ts";

// What a company has beside the chart, on the node, where pods reach it.

/** PostgreSQL at the node's address. `localUrl`: over its socket. */
export async function startDatabase(directory: string) {
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "pg"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  const { socket, urlAt } = databaseAt(postgres.url);
  const forwarder = await forward(nodeAddress, async () => connect(socket));
  return {
    localUrl: postgres.url,
    url: urlAt(nodeAddress, portOf(forwarder)),
    async stop() {
      forwarder.close();
      await postgres.stop();
    },
  };
}

/** The path of the socket in a database's URL, and its URL by TCP. */
export function databaseAt(url: string) {
  const { username, pathname, searchParams } = new URL(url.replace("@/", "@socket/"));
  return {
    socket: join(searchParams.get("host") ?? "", `.s.PGSQL.${searchParams.get("port")}`),
    urlAt: (host: string, port: number) => `postgresql://${username}@${host}:${port}${pathname}`,
  };
}

/** What leads from an address of this machine to a Service, one connection each: a load balancer that ends no HTTPS. */
export async function startBalancer(target: () => Promise<{ readonly host: string; readonly port: number }>) {
  const server = await forward("127.0.0.1", async () => connect(await target()));
  return { port: portOf(server), stop: () => void server.close() };
}

export const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** Leads connections to an address and port (0: any that is free) to what `dial` connects. */
export async function forward(address: string, dial: () => Promise<Socket>, port = 0): Promise<Server> {
  const server = createServer((client) => {
    client.on("error", () => client.destroy());
    dial().then(
      (target) => {
        client.on("close", () => target.destroy());
        target.on("error", () => client.resetAndDestroy()).on("close", () => client.destroy());
        client.pipe(target).pipe(client);
      },
      () => client.resetAndDestroy(),
    );
  });
  server.listen(port, address);
  await once(server, "listening");
  return server;
}

/** The tests' issuer, for a site at `url`. */
export async function startIssuer(processes: ProcessGroup, url: string) {
  const at = `${nodeAddress}:${await freePort()}`;
  const script = join(repositoryRoot, "packages/auth/src/testing/issuer.ts");
  processes.start("issuer", process.execPath, [script, at, `${url}/api/auth/callback/oidc`]);
  await until("The issuer", async () => (await fetch(`http://${at}/.well-known/openid-configuration`)).ok, processes);
  return {
    values: { issuer: `http://${at}`, clientId: "towpath", clientSecret: "secret-of-the-test-client" },
  };
}

/** Resolves names of Services, as the cluster's DNS does, and all others. */
export async function startResolver(processes: ProcessGroup, cluster: Cluster, directory: string) {
  const hosts = join(directory, "hosts");
  await mkdir(hosts, { recursive: true });
  const argv = ["--keep-in-foreground", "--no-hosts", "--no-resolv", "--server=10.0.2.3", "--local=/cluster.local/"];
  argv.push(`--listen-address=${nodeAddress}`, "--bind-interfaces", "--user=root", "--pid-file", `--hostsdir=${hosts}`);
  processes.start("dnsmasq", "dnsmasq", argv);
  let isStopped = false;
  let written = "";
  const following = (async () => {
    while (!isStopped) {
      const { items } = JSON.parse(await cluster.kubectl("get", "services", "--all-namespaces", "-o=json"));
      const lines = items.map(
        ({ metadata, spec }: { metadata: { name: string; namespace: string }; spec: { clusterIP: string } }) =>
          `${spec.clusterIP} ${metadata.name}.${metadata.namespace}.svc.cluster.local`,
      );
      const text = `${lines.join("\n")}\n`;
      if (text !== written) {
        // At once: it is read when it appears.
        await writeFile(join(directory, "services"), text);
        await rename(join(directory, "services"), join(hosts, "services"));
        written = text;
      }
      await sleep(500);
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await following;
    },
  };
}
