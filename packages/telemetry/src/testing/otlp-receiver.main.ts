import { createServer } from "node:http";

// An OpenTelemetry collector for tests, in a process of its own: prints its port, then each request as a line of JSON.
const port = Number(process.argv[2] ?? 0);
const status = Number(process.argv[3] ?? 200);

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  process.stdout.write(`${JSON.stringify({ url: request.url, headers: request.headers, body })}\n`);
  response.writeHead(status, { "content-type": "application/json" }).end("{}");
});
server.listen(port, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : null })}\n`);
});
