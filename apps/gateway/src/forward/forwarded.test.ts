import { createServer, request as httpRequest } from "node:http";
import { BlockList } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseServerUrl } from "../route/server-address.ts";
import { forwardedHeaders } from "./forwarded.ts";

let template = "";
let flat: string[] = [];
const server = createServer((request, response) => {
  flat = forwardedHeaders(parseServerUrl(template), "weather", { request, proxies: new BlockList() });
  response.end();
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => server.close());

/** What a server is told about a request that came from this machine with this X-Forwarded-For. */
async function told(serverUrl: string, forwardedFor?: string): Promise<string[]> {
  template = serverUrl;
  const address = server.address();
  await new Promise<void>((resolve, reject) => {
    const headers = { connection: "close", ...(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }) };
    const port = typeof address === "object" ? address?.port : 0;
    httpRequest({ host: "127.0.0.1", port, headers }, (response) => response.resume().on("end", resolve))
      .on("error", reject)
      .end();
  });
  return [flat[1] ?? "", `${flat[3]}://${flat[5]}`];
}

test("GW-4 a server is told its public address, whatever Host was used", async () => {
  expect((await told("https://{name}.example.com"))[1]).toBe("https://weather.example.com");
  expect((await told("http://{name}.localhost:8080"))[1]).toBe("http://weather.localhost:8080");
  expect((await told("https://mcp.example.com/{name}"))[1]).toBe("https://mcp.example.com");
});

test("GW-4 a proxy on this machine is believed about its own client only, and on a loopback gateway nobody is", async () => {
  expect((await told("https://{name}.example.com", "6.6.6.6, 203.0.113.9"))[0]).toBe("203.0.113.9");
  expect((await told("https://{name}.example.com", "203.0.113.9, evil"))[0]).toBe("127.0.0.1");
  expect((await told("https://{name}.example.com"))[0]).toBe("127.0.0.1");
  expect((await told("http://localhost:8080/{name}", "6.6.6.6"))[0]).toBe("127.0.0.1");
});
