import { mkdir, readFile, writeFile } from "node:fs/promises";
import { request as requestHttps } from "node:https";
import { join } from "node:path";
import { freePorts } from "@towpath/role/testing";
import { repositoryRoot } from "../instance/towpath-process.ts";
import { startProgram } from "./program.ts";

/** As the launcher has built it. */
const built = join(repositoryRoot, ".toolchain/https");
const certificates = join(built, "module/test/certs");

export type Pebble = {
  /** Settings of an instance that gets its certificates there. */
  readonly settings: Readonly<Record<string, string>>;
  /** Its root certificate, which is new at each start. */
  readonly root: string;
  /** `host:port` of the DNS server, for which every name is this machine. */
  readonly dns: string;
  /** Changes a record of the DNS server, such as `set-txt`. */
  changeRecord(command: string, record: object): Promise<void>;
  stop(): Promise<void>;
};

/** Starts Pebble, the test server of Let's Encrypt, and its DNS server. It validates names at these ports. */
export async function startPebble(
  directory: string,
  { httpPort, httpsPort }: { readonly httpPort: number; readonly httpsPort: number },
): Promise<Pebble> {
  const [port = 0, managementPort = 0, dnsPort = 0, recordsPort = 0] = await freePorts(4);
  await mkdir(directory, { recursive: true });
  const config = join(directory, "pebble.json");
  const pebbleConfig = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: join(certificates, "localhost/cert.pem"),
    privateKey: join(certificates, "localhost/key.pem"),
    httpPort,
    tlsPort: httpsPort,
    ocspResponderURL: "",
    externalAccountBindingRequired: false,
    // None: Debian's Caddy takes Retry-After in seconds only, as Let's Encrypt sends it, and Pebble sends dates as well.
    retryAfter: { authz: -1, order: -1 },
    profiles: { default: { description: "The only one", validityPeriod: 7_776_000 } },
  };
  await writeFile(config, JSON.stringify({ pebble: pebbleConfig }));
  const none = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""];
  const [dns, records] = [`127.0.0.1:${dnsPort}`, `http://127.0.0.1:${recordsPort}`];
  const dnsServer = await startProgram(
    [
      join(built, "pebble-challtestsrv"),
      ...none,
      "-dnsserver",
      dns,
      "-management",
      `127.0.0.1:${recordsPort}`,
      "-defaultIPv6",
      "",
    ],
    () => fetch(records),
  );
  const authority = await readFile(join(certificates, "pebble.minica.pem"), "utf8");
  const rootOf = () => textAt(`https://localhost:${managementPort}/roots/0`, authority);
  const pebble = await startProgram([join(built, "pebble"), "-config", config, "-dnsserver", dns], rootOf, {
    env: { ...process.env, PEBBLE_VA_NOSLEEP: "1" },
  });
  return {
    settings: {
      TOWPATH_ACME_DIRECTORY: `https://localhost:${port}/dir`,
      TOWPATH_ACME_CA: join(certificates, "pebble.minica.pem"),
    },
    root: await rootOf(),
    dns,
    async changeRecord(command, record) {
      const answer = await fetch(`${records}/${command}`, { method: "POST", body: JSON.stringify(record) });
      if (!answer.ok) throw new Error(`${command}: ${answer.status} ${await answer.text()}`);
    },
    stop: async () => void (await Promise.all([pebble.stop(), dnsServer.stop()])),
  };
}

/** The text at a URL of this machine with a certificate of its own authority. */
function textAt(url: string, authority: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = requestHttps(url, { ca: authority, family: 4, agent: false }, async (response) => {
    let text = "";
    for await (const piece of response) text += String(piece);
    resolve(text);
  });
  sent.once("error", reject).end();
  return promise;
}
