import type { RequestListener } from "node:http";
import { createAddressPolicy } from "@towpath/egress";
import { afterEach, expect, test } from "vitest";
import { type Listening, listen } from "../client/testing/servers.ts";
import { fetchFile } from "./fetch-file.ts";

const running: Listening[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

const policy = createAddressPolicy(["127.0.0.0/8"]);

async function fetchFrom(handler: RequestListener): Promise<Buffer> {
  const server = await listen(handler);
  running.push(server);
  return fetchFile(server.url, { policy, maxBytes: 1000, timeoutMs: 300 });
}

test("CAP-7 a file that a server names is read from allowed addresses, once, without redirects, and bounded", async () => {
  const bytes = Buffer.alloc(1000, 7);
  const seen: (string | undefined)[] = [];
  const found = await fetchFrom((request, response) => {
    seen.push(request.headers.authorization, request.headers.cookie);
    response.end(bytes);
  });
  expect([found, seen]).toEqual([bytes, [undefined, undefined]]);
  const problem = async (work: Promise<unknown>) =>
    (await work.catch((error: unknown) => error)) as { problem: string };
  const answers: readonly (readonly [string, RequestListener])[] = [
    ["too_large", (_, response) => void response.end(Buffer.alloc(1001))],
    ["status", (_, response) => void response.writeHead(404).end()],
    ["redirect", (_, response) => void response.writeHead(302, { location: "http://169.254.169.254/" }).end()],
    ["timeout", () => {}],
    // The head in time, the rest never.
    ["timeout", (_, response) => void response.write("x")],
    ["unreachable", (_, response) => void response.socket?.destroy()],
  ];
  for (const [expected, handler] of answers) expect((await problem(fetchFrom(handler))).problem).toBe(expected);
  const strict = createAddressPolicy([]);
  const at = (url: string) => problem(fetchFile(url, { policy: strict, maxBytes: 1000 }));
  for (const url of ["https://10.0.0.1/icon.png", "http://127.0.0.1/icon.png", "https://[::1]/icon.png"])
    expect((await at(url)).problem).toBe("address_not_allowed");
  expect((await at("nonsense")).problem).toBe("invalid_url");
});
