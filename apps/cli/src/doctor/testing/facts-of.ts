import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type Facts, gatherFacts } from "../facts.ts";
import type { Check, Finding } from "../finding.ts";

/** A data directory of this test alone. */
export async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp("/tmp/tw-doctor-");
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Facts of an instance that doesn't run, with these settings and no others. */
export async function factsOf(settings: Readonly<Record<string, string>> = {}, directory?: string): Promise<Facts> {
  const { PATH = "" } = process.env;
  return await gatherFacts({ "data-dir": directory ?? (await emptyDirectory()) }, { PATH, ...settings });
}

/** What a check finds with these settings. */
export const examine = async (check: Check, settings: Readonly<Record<string, string>>): Promise<readonly Finding[]> =>
  check(await factsOf(settings));

/** Address of a service that answers so, for this test. */
export async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
