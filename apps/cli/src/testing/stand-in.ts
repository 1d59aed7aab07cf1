import { rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { shortDirectory } from "@towpath/runtime/testing";
import { startTimeOf } from "../instance/instance.ts";

/** Has the terminal find an instance at `url` by this data directory; this process counts as its launcher. */
export async function noteRunning(directory: string, url: string): Promise<void> {
  const running = { pid: process.pid, startTime: startTimeOf(process.pid), url, serverUrl: `${url}/{name}` };
  await writeFile(`${directory}/running.json`, JSON.stringify(running));
  await writeFile(`${directory}/operator-token`, "tpo_of-this-test\n");
}

/** Answers in place of an instance on this machine. `directory`: its data directory, of its own. */
export async function startStandIn(
  answer: RequestListener,
): Promise<{ readonly directory: string; close(): Promise<void> }> {
  const directory = await shortDirectory();
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  await noteRunning(directory, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    directory,
    async close() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
