import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainRequirements } from "../instance/plain-server.ts";
import { instancePorts, type Ports, startTowpath, towpath } from "../instance/towpath-process.ts";
import { streamingServer } from "./streaming-server.ts";

/**
 * Makes an instance with the server `streaming`, which everybody may call, and stops it: with addresses that only the
 * front on this machine knows, nothing could be deployed.
 */
export async function deployedInstance(): Promise<{
  readonly directory: string;
  readonly dataDirectory: string;
  readonly ports: Ports;
}> {
  const directory = await mkdtemp(join(tmpdir(), "tw-https-"));
  const dataDirectory = join(directory, "data");
  const ports = await instancePorts();
  const instance = await startTowpath(dataDirectory, ports);
  const source = join(directory, "source");
  await mkdir(source);
  await writeFile(join(source, "server.py"), streamingServer);
  await writeFile(join(source, "requirements.txt"), plainRequirements);
  const args = ["deploy", source, "--name", "streaming", "--public", "--data-dir", dataDirectory];
  const { stdout, stderr } = await towpath(...args);
  await instance.stop();
  if (!stdout.includes("Live: ")) throw new Error(`The server could not be deployed:\n${stdout}${stderr}`);
  return { directory, dataDirectory, ports };
}
