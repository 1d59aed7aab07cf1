import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { type InstanceState, type Replacement, type ReplacementEvent, replacementSchema } from "./control.schema.ts";

/** What a running `up` does for other commands. */
export type Controlled = {
  state(): InstanceState;
  replace(replacement: Replacement): AsyncIterable<ReplacementEvent>;
};

/**
 * Serves the state of the instance (GET /) and replaces its processes (POST /replace) on a unix socket that only its
 * owner may use. Resolves to how to stop.
 */
export async function serveControl(path: string, instance: Controlled): Promise<() => void> {
  let isReplacing = false;
  /** Goes on to the end when the command that asked for it is gone. */
  const replace = async (request: IncomingMessage, response: ServerResponse) => {
    const replacement = replacementSchema.safeParse(await json(request).catch(() => null));
    if (!replacement.success) return void response.writeHead(400).end("This is not a replacement.");
    if (isReplacing) return void response.writeHead(409).end("The instance is being upgraded by another command.");
    isReplacing = true;
    try {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      for await (const event of instance.replace(replacement.data)) response.write(`${JSON.stringify(event)}\n`);
    } finally {
      isReplacing = false;
      response.end();
    }
  };
  const server = createServer((request, response) => {
    response.on("error", () => {});
    const asked = `${request.method} ${request.url}`;
    if (asked === "GET /") response.end(JSON.stringify(instance.state()));
    else if (asked === "POST /replace") replace(request, response).catch(() => response.destroy());
    else response.writeHead(404).end();
  });
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  await chmod(path, 0o600);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}
