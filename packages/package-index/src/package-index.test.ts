import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { TowpathError } from "@towpath/core/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { indexesOf, packageIndexSettings } from "./indexes.ts";
import { createPackageIndex } from "./package-index.ts";

const json = "application/vnd.pypi.simple.v1+json";
const pages: Record<string, { readonly status?: number; readonly type?: string; readonly body: string }> = {
  "/public/shop-mcp/": {
    body: JSON.stringify({
      name: "shop-mcp",
      files: [
        { filename: "shop_mcp-1.9.0.tar.gz", "requires-python": ">=3.9" },
        {
          filename: "shop_mcp-1.10.0-py3-none-any.whl",
          "requires-python": ">=3.10",
          "upload-time": "2025-05-01T10:00:07.123456Z",
        },
        { filename: "shop_mcp-1.10.0.tar.gz", "requires-python": ">=3.10", "upload-time": "2025-05-01T10:00:00Z" },
        { filename: "shop_mcp-2.0.0b1-py3-none-any.whl", "upload-time": "yesterday" },
        { filename: "shop_mcp-1.11.0-py3-none-any.whl", yanked: "deletes orders" },
        { filename: "shop_mcp-1.10.0.exe" },
        { filename: "shop_mcp-final.tar.gz" },
      ],
    }),
  },
  "/private/till-mcp/": { body: JSON.stringify({ name: "till-mcp", files: [{ filename: "till_mcp-3.tar.gz" }] }) },
  "/public/old-index/": { type: "text/html", body: "<a href='old_index-1.tar.gz'>old_index-1.tar.gz</a>" },
  "/public/broken/": { status: 503, body: "" },
  "/public/odd/": { body: "[]" },
};
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  const page = pages[request.url ?? ""];
  response.writeHead(page ? (page.status ?? 200) : 404, { "content-type": page?.type ?? json }).end(page?.body);
});
let origin = "";

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((closed) => server.close(closed)));

const index = (environment: Readonly<Record<string, string>> = {}) =>
  createPackageIndex(indexesOf({ UV_DEFAULT_INDEX: `http://${origin}/public`, ...environment }));

test("BLD-17 versions of a package, newest first by PEP 440: no yanked ones, no files that can't be installed", async () => {
  expect(await index().releases("shop-mcp")).toEqual({
    name: "shop-mcp",
    releases: [
      { version: "2.0.0b1", isPrerelease: true, requiresPython: null, uploadedAt: null },
      {
        version: "1.10.0",
        isPrerelease: false,
        requiresPython: ">=3.10",
        uploadedAt: new Date("2025-05-01T10:00:00Z"),
      },
      { version: "1.9.0", isPrerelease: false, requiresPython: ">=3.9", uploadedAt: null },
    ],
  });
  expect(requests.at(-1)?.headers).toMatchObject({ accept: json });
  expect(requests.at(-1)?.headers.authorization).toBeUndefined();
});

test("BLD-17 indexes are asked in uv's order with their credentials, the standard one only if none is set", async () => {
  const company = {
    UV_INDEX: `company=http://${origin}/private`,
    UV_INDEX_COMPANY_USERNAME: "reader",
    UV_INDEX_COMPANY_PASSWORD: "pass:word",
  };
  const basic = `Basic ${Buffer.from("reader:pass:word").toString("base64")}`;
  expect((await index(company).releases("till-mcp")).releases).toHaveLength(1);
  expect(requests.at(-1)?.headers.authorization).toBe(basic);
  expect((await index(company).releases("shop-mcp")).releases).toHaveLength(3);
  expect(requests.at(-1)?.headers.authorization).toBeUndefined();
  const written = index({ UV_DEFAULT_INDEX: `http://reader:pass%3Aword@${origin}/private` });
  await written.releases("till-mcp");
  expect(requests.at(-1)?.headers.authorization).toBe(basic);
  expect(indexesOf({}).map(({ url }) => url.href)).toEqual(["https://pypi.org/simple/"]);
  const settings = z.object(packageIndexSettings);
  expect(settings.safeParse(company).success).toBe(true);
  expect(settings.safeParse({ UV_INDEX: "company" }).error?.issues[0]?.path).toEqual(["UV_INDEX"]);
});

test("BLD-17 a package that no index has, and an index that fails: the error names it and a remedy", async () => {
  const problem = (name: string) =>
    index()
      .releases(name)
      .then(String, (error: unknown) => error);
  const absent = await problem("nothing-mcp");
  expect(absent).toBeInstanceOf(TowpathError);
  expect(absent).toMatchObject({
    code: "not_found",
    message: `There is no package nothing-mcp on ${origin}. Check its name.`,
  });
  for (const [name, message] of [
    ["old-index", "can't list versions as JSON (PEP 691)"],
    ["broken", "answered with status 503"],
    ["odd", "can't be reached"],
  ] as const) {
    expect(await problem(name)).toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining(message),
    });
  }
});
