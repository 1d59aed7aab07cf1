import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { LeasedInstance } from "@towpath/runner-api";
import { afterEach, expect, test } from "vitest";
import { verifiedLease } from "./verify.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A lease on a server that answers so. */
async function leaseOf(listener: RequestListener, instanceId = "the only one"): Promise<LeasedInstance> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const endpoint = { kind: "tcp", host: "127.0.0.1", port, secret: "of this instance" } as const;
  return { instanceId, endpoint, leaseMs: 1000, state: "started", waitedMs: 0 };
}

const verify = (leases: readonly LeasedInstance[], timeoutMs = 1000) => {
  let taken = 0;
  const next = async () => leases[Math.min(taken++, leases.length - 1)] as LeasedInstance;
  return verifiedLease(next, timeoutMs);
};

test("BLD-10 any status below 500 at /mcp counts, including an open stream and a 401", async () => {
  for (const status of [200, 401, 404]) {
    const lease = await leaseOf((request, response) => {
      const { method, url, headers } = request;
      expect([method, url, headers["towpath-secret"]]).toEqual(["POST", "/mcp", "of this instance"]);
      response.writeHead(status, { "content-type": "text/event-stream" }).flushHeaders();
    });
    expect(await verify([lease])).toBe(lease);
  }
});

test("BLD-10 a server that fails or stays silent at /mcp is refused with a message for its owner", async () => {
  const failing = await leaseOf((_request, response) => response.writeHead(500).end());
  await expect(verify([failing])).rejects.toMatchObject({
    code: "no_answer",
    message: "It answered at /mcp with HTTP status 500.",
  });
  const silent = await leaseOf(() => {});
  await expect(verify([silent])).rejects.toMatchObject({
    code: "no_answer",
    message: "It did not answer at /mcp within 1 seconds.",
  });
});

test("BLD-10 a server that was evicted before it answered is started and checked again, once", async () => {
  const gone = await leaseOf((request) => request.socket.destroy(), "gone");
  const next = await leaseOf((_request, response) => response.end(), "next");
  expect(await verify([gone, next])).toBe(next);
  const alsoGone = await leaseOf((request) => request.socket.destroy(), "also gone");
  await expect(verify([gone, alsoGone, next])).rejects.toMatchObject({ code: "no_answer" });
});
