import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { openDatabase } from "@towpath/db";
import { operatorToken } from "../instance/operator.ts";
import { addOwnPerson, type OwnPerson, organizationOf, restOf } from "../instance/own-people.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { type TowpathInstance, towpath } from "../instance/towpath-process.ts";
import { deleteServer } from "./deploy.ts";
import { type KeyedServer, keyedServers } from "./keyed-servers.ts";

/** An address of this machine that is no loopback: sandboxes reach it once it is in TOWPATH_NETWORK_ALLOW. */
export function upstreamAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === "IPv4" && !internal)?.address ?? null;
}

type Row = { readonly package: string; readonly isAsItShouldBe: boolean; readonly problem: string };
type Account = { readonly name: string; readonly key: string };

const buildKey = "key-for-builds";
const answerMs = 120_000;

/**
 * Deploys published servers that need a key, unchanged, with it per caller: two people enter theirs, and each must see
 * their own account at a stand-in for the service, which sees no other key than theirs in calls (CAP-1).
 *
 * @param names packages; empty: all
 * @yields a row for each, as it was tried
 */
export async function* tryKeyedServers(instance: TowpathInstance, names: readonly string[]): AsyncGenerator<Row> {
  const address = upstreamAddress();
  const { pool, close } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 2 });
  try {
    const chosen = keyedServers.filter(
      (server) => names.length === 0 || names.some((one) => server.package.startsWith(one)),
    );
    for (const server of chosen) {
      if (address === null)
        throw new Error("This machine has no address but its loopback, at which a stand-in could be.");
      const problem = await tryServer({ instance, pool, address }, server).catch((error: unknown) => String(error));
      yield { package: server.package, isAsItShouldBe: problem === "", problem: problem.replaceAll(/\s+/g, " ") };
    }
  } finally {
    await close();
  }
}

type Where = {
  readonly instance: TowpathInstance;
  readonly pool: ReturnType<typeof openDatabase>["pool"];
  readonly address: string;
};

/** The problem; empty: none. */
async function tryServer({ instance, pool, address }: Where, server: KeyedServer): Promise<string> {
  const name = `keyed-${randomBytes(4).toString("hex")}`;
  const accounts = ["ada", "bob"].map((person): Account => {
    const suffix = randomBytes(6).toString("hex");
    return { name: `account-${person}-${suffix}`, key: `key-${person}-${suffix}` };
  });
  const upstream = await startUpstream(address, server, accounts);
  try {
    const given = { ...server.shared(upstream.url), ...server.own(buildKey) };
    const env = Object.entries(given).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
    const to = ["--name", name, "--data-dir", instance.dataDirectory];
    const deployed = await towpath("deploy", `pypi:${server.package}`, ...to, ...env);
    if (deployed.status !== 0) return `not live: ${(deployed.stdout + deployed.stderr).slice(-600)}`;
    const rest = restOf(instance.url, name);
    const operator = await operatorToken(instance);
    for (const keyName of Object.keys(server.own(buildKey)))
      await rest(operator, "PATCH", `/secrets/${keyName}`, { perCaller: true });
    const organizationId = await organizationOf(pool, name);
    const people = await Promise.all(accounts.map(() => addOwnPerson(pool, organizationId)));
    upstream.seen.length = 0;
    const url = new URL(`${instance.serversUrl}/${name}/mcp`);
    const first = await callAs(url, people[0] as OwnPerson, server);
    if (!first.includes("/my-values/")) return `a person without a key got: ${first.slice(0, 300)}`;
    for (const [at, { key }] of accounts.entries()) {
      const values = Object.entries(server.own(key)).map(([keyName, value]) => ({ keyName, value }));
      const { status } = await rest(people[at]?.key ?? "", "PATCH", "/my-values", { values });
      if (status !== 200) return `the keys of ${accounts[at]?.name} were not stored: ${status}`;
    }
    const answers = await Promise.all(people.map((person) => callAs(url, person, server)));
    for (const [at, { name: own }] of accounts.entries()) {
      const answer = answers[at] ?? "";
      const others = accounts.filter((account) => account.name !== own);
      if (!answer.includes(own)) return `${own} is not in the answer: ${answer.slice(0, 400)}`;
      if (others.some((other) => answer.includes(other.name))) return `${own} sees another account`;
    }
    const strange = upstream.seen.filter((key) => !accounts.some((account) => account.key === key));
    return strange.length > 0 ? `the service got calls with ${[...new Set(strange)].join(", ")}` : "";
  } finally {
    await deleteServer(instance, name);
    await upstream.stop();
  }
}

/** A heavy server may need longer for its start than a call waits: like a person, try again. */
async function callAs(url: URL, person: OwnPerson, server: KeyedServer, tries = 4): Promise<string> {
  try {
    return await callOnce(url, person, server);
  } catch (error) {
    if (tries <= 1 || !/start_timeout|server_failed_to_start/.test(String(error))) throw error;
    return await callAs(url, person, server, tries - 1);
  }
}

async function callOnce(url: URL, { key }: OwnPerson, { tool, arguments: args }: KeyedServer): Promise<string> {
  const client = new Client({ name: "corpus", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(url, { requestInit });
  await client.connect(transport as Parameters<Client["connect"]>[0], { timeout: answerMs });
  try {
    return JSON.stringify(await client.callTool({ name: tool, arguments: args }, undefined, { timeout: answerMs }));
  } finally {
    await client.close().catch(() => {});
  }
}

/** A stand-in for the service: it knows accounts by their keys, and refuses all other requests. `seen`: keys of requests. */
async function startUpstream(address: string, server: KeyedServer, accounts: readonly Account[]) {
  const seen: string[] = [];
  const service = createServer((request, response) => {
    request.resume();
    const credentials = credentialsOf(request.headers);
    const account = accounts.find(({ key }) => credentials.includes(key));
    seen.push(account?.key ?? (credentials.includes(buildKey) ? buildKey : "no key"));
    if (account === undefined) return void response.writeHead(401).end('{"error": "unknown key"}');
    const answer = server.answer(account.name, request.url ?? "/");
    const isText = typeof answer === "string";
    response.setHeader("content-type", isText ? "text/xml" : "application/json");
    response.end(isText ? answer : JSON.stringify(answer));
  });
  service.listen(0, address);
  await once(service, "listening");
  const { port } = service.address() as AddressInfo;
  const stop = async () => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  };
  return { url: `http://${address}:${port}`, seen, stop };
}

/** The headers that carry a key, and what they have in base64. */
function credentialsOf({ authorization = "", "x-api-key": other = "" }: IncomingHttpHeaders): string {
  const basic = /^Basic (\S+)$/.exec(authorization)?.[1] ?? "";
  return `${authorization} ${other} ${Buffer.from(basic, "base64").toString()}`;
}
