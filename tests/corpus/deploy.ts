import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { operatorPost, operatorToken } from "../instance/operator.ts";
import { type TowpathInstance, towpath } from "../instance/towpath-process.ts";
import { listTools } from "./list-tools.ts";
import type { CorpusServer } from "./server.ts";

export type Deployed = {
  readonly live: boolean;
  readonly seconds: number;
  /** What the terminal printed. */
  readonly output: string;
};

/** The live server's tools. `called`: the called tool, null where the corpus names none. */
export type Served = { readonly tools: readonly string[]; readonly called: string | null };

const answerMs = 60_000;

/** Deploys a directory as a user would, with nothing but a name. */
export async function deploy(instance: TowpathInstance, name: string, ...more: string[]): Promise<Deployed> {
  const begun = performance.now();
  const args = [...more, "--name", name, "--public", "--data-dir", instance.dataDirectory];
  const { status, stdout, stderr } = await towpath("deploy", ...args);
  return { live: status === 0, seconds: (performance.now() - begun) / 1000, output: `${stdout}\n${stderr}` };
}

export async function setVariables(
  instance: TowpathInstance,
  name: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [keyName, secretValue] of Object.entries(environment)) {
    const environments = ["production", "preview"];
    await operatorPost(instance, `projects/${name}/secrets`, { keyName, secretValue, sensitive: false, environments });
  }
}

export async function deleteServer(instance: TowpathInstance, name: string): Promise<void> {
  await fetch(`${instance.url}/api/v1/projects/${name}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${await operatorToken(instance)}` },
  });
}

/** Lists the tools of a live server and calls the harmless one. @throws Error when it doesn't answer properly */
export async function useServer(instance: TowpathInstance, name: string, { call }: CorpusServer): Promise<Served> {
  const client = new Client({ name: "corpus", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${instance.serversUrl}/${name}/mcp`));
  await client.connect(transport as Parameters<Client["connect"]>[0], { timeout: answerMs });
  try {
    const tools = await listTools(client, answerMs);
    if (call === undefined) return { tools, called: null };
    const result = await client.callTool({ name: call.tool, arguments: call.arguments }, undefined, {
      timeout: answerMs,
    });
    if (result.isError) throw new Error(`${call.tool} answers ${JSON.stringify(result.content).slice(0, 300)}`);
    return { tools, called: call.tool };
  } finally {
    await client.close().catch(() => {});
  }
}
