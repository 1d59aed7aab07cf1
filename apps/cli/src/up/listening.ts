import { once } from "node:events";
import { createServer } from "node:net";

/** Why nothing could listen there now; null if something could. Without a host: on all addresses. */
export async function whyNotListening(listen: {
  readonly port: number;
  readonly host?: string;
}): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  server.listen({ ...listen, exclusive: true });
  const problem = await once(server, "listening").then(
    () => null,
    (error: NodeJS.ErrnoException) => error,
  );
  server.close();
  return problem;
}
