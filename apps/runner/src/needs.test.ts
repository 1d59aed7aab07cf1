import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { artifactsConfigSchema } from "@towpath/artifacts";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { watchNeeds } from "./needs.ts";

const database = openTestDatabase();
const log = { error: vi.fn(), info: vi.fn() };
const data = { problem: () => null };

test("OPS-6 OPS-13 a bucket that refuses the key is a warning with the remedy until it takes objects", async () => {
  let allows = false;
  const bucket = createServer((request, response) => {
    request.resume();
    response.writeHead(allows ? (request.method === "DELETE" ? 204 : 200) : 403).end();
  });
  await new Promise<void>((done) => bucket.listen(0, "127.0.0.1", done));
  onTestFinished(() => void bucket.close().closeAllConnections());
  const artifacts = artifactsConfigSchema.parse({
    TOWPATH_ARTIFACTS: "s3://layers/of",
    TOWPATH_ARTIFACTS_ENDPOINT: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
    TOWPATH_ARTIFACTS_ACCESS_KEY_ID: "ada",
    TOWPATH_ARTIFACTS_SECRET_ACCESS_KEY: "no right",
  });
  const needs = watchNeeds({ database, artifacts, data, log });
  await needs.check();
  expect(needs.warnings).toEqual([
    expect.stringMatching(/^Artifacts can't be kept in .* may not list the bucket: allow s3:ListBucket .* put objects/),
    expect.stringMatching(/^The bucket .* needs attention/),
  ]);
  expect(log.error).toHaveBeenCalledOnce();
  await needs.check();
  expect(log.error).toHaveBeenCalledOnce();
  allows = true;
  await needs.check();
  expect([needs.warnings, log.info.mock.calls.length]).toEqual([[], 1]);
});

test("OPS-6 a clock that differs from the database's is a warning with the difference", async () => {
  const needs = watchNeeds({ database, artifacts: null, data, log });
  await needs.check();
  expect(needs.warnings).toEqual([]);
  const now = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => now() + 90_000);
  onTestFinished(() => void vi.restoreAllMocks());
  await needs.check();
  expect(needs.warnings).toEqual([expect.stringMatching(/ is (89|90|91) s ahead of the database's.*timedatectl/)]);
});

test("RUN-7 OPS-6 that servers get no volume for their data is a warning at once, and until one gets it", async () => {
  const problem = vi.fn<() => string | null>(() => null);
  const needs = watchNeeds({ database, artifacts: null, data: { problem }, log });
  await needs.check();
  problem.mockReturnValue("Servers that keep data don't start: check the storage class.");
  expect(needs.warnings).toEqual([problem()]);
  problem.mockReturnValue(null);
  expect(needs.warnings).toEqual([]);
});
