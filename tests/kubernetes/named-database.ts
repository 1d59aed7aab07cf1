import { execFile } from "node:child_process";
import { appendFile, open, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { promisify } from "node:util";
import { databaseAt, forward, portOf } from "./surroundings.ts";

const run = promisify(execFile);
/** Of the mount namespace that `in-namespaces` made. */
const hostsFile = "/etc/hosts";
const name = "postgres.test";
/** Of one length, so that the file is never incomplete. */
const [first, second] = ["10.250.1.1", "10.250.1.2"] as const;
const silence = ["INPUT", "-d", first, "-j", "DROP"];

export type NamedDatabase = {
  readonly url: string;
  /** The address goes silent, as if its machine were lost, and the name leads to another one. Once. */
  failOver(): Promise<void>;
  close(): Promise<void>;
};

/** Gives a database, which has a socket, a name with an address of its own. */
export async function nameDatabase(url: string): Promise<NamedDatabase> {
  const { socket, urlAt } = databaseAt(url);
  const dial = async () => connect(socket);
  for (const address of [first, second]) await run("ip", ["address", "replace", `${address}/32`, "dev", "lo"]);
  const forwarders = [await forward(first, dial)];
  const port = forwarders.map(portOf)[0] ?? 0;
  forwarders.push(await forward(second, dial, port));
  if (!(await readFile(hostsFile, "utf8")).includes(name)) await appendFile(hostsFile, `\n${first} ${name}\n`);
  await pointTo(first);
  return {
    url: urlAt(name, port),
    async failOver() {
      await run("iptables", ["-I", ...silence]);
      await pointTo(second);
    },
    async close() {
      await run("iptables", ["-D", ...silence]).catch(() => {});
      for (const each of forwarders) each.close();
    },
  };
}

async function pointTo(address: string): Promise<void> {
  const at = (await readFile(hostsFile, "utf8")).search(new RegExp(`^[\\d.]+ ${name}$`, "m"));
  const file = await open(hostsFile, "r+");
  await file.write(address, at);
  await file.close();
}
