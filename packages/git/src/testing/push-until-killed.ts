// A process that serves half of a push, and then waits to be killed. Its argument: a bare repository.

import { serveGit } from "../http-backend.ts";

const [, , directory = ""] = process.argv;
const half = new ReadableStream<Uint8Array>({
  start: (controller) => controller.enqueue(new TextEncoder().encode("0094")),
});
const request = new Request("http://localhost/git-receive-pack", {
  method: "POST",
  headers: { "content-type": "application/x-git-receive-pack-request", "content-length": "389" },
  body: half,
  duplex: "half",
} as RequestInit);
setTimeout(() => process.stdout.write("serving\n"), 500);
await serveGit({ directory, service: "git-receive-pack", request, user: "ada", afterwards: async () => null });
