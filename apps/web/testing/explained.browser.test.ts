import { newId } from "@towpath/core/ids";
import { sampleManifest, sampleTool, seedProject, shaOf } from "@towpath/core/testing";
import { build, deployment, route } from "@towpath/db/schema";
import { type ServerLogRow, timeOfRequestId, writeRequestLogs, writeServerLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessible, expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let page: Page;
let member: Member;
let own: Awaited<ReturnType<typeof seedProject>>;
const [requestId, deploymentId, buildId] = [newId(), newId(), newId()];

beforeAll(async () => {
  member = await seededMember(site.url, site.db);
  own = await seedProject(site.db, member.organization);
  const ids = { projectId: own.id, branchId: own.branchId };
  await site.db.insert(build).values({
    ...ids,
    id: buildId,
    status: "succeeded",
    commitSha: shaOf("a"),
    trigger: "push",
    sequence: 1,
    entrypoint: "echo.py",
  });
  await site.db
    .insert(deployment)
    .values({ ...ids, id: deploymentId, buildId, environment: "production", slug: own.name });
  const time = timeOfRequestId(requestId);
  const line = (text: string, of: string | null): ServerLogRow => ({
    projectId: own.id,
    deploymentId,
    instanceId: null,
    stream: "stdout",
    level: "info",
    time,
    requestId: of,
    line: text,
  });
  const lines = Array.from({ length: 1500 }, (_, at) => line(`other line ${at}`, null));
  lines.splice(300, 0, line("asked the weather service", requestId), line("it refused", requestId));
  await writeServerLogs(site.pool, lines);
  await writeRequestLogs(site.pool, [
    requestLogRow({
      projectId: own.id,
      organizationId: member.organization.id,
      deploymentId,
      id: requestId,
      time: time.getTime(),
      target: "weather",
      isError: true,
      outcome: "tool_error",
      durationMs: 700,
      heldMs: 550,
      serverMs: 140,
      startAttempt: { outcome: "started", placeMs: 40, startMs: 510, wakeMs: null, reason: null },
      responsePayload: { result: { isError: true, content: [{ type: "text", text: "No data." }] } },
      responseTruncated: true,
      traceId: "a1".repeat(16),
    }),
  ]);
  page = await browser.signedInPage(site.url, member);
});

const at = (screen: string) => `${site.url}/${member.organization.slug}/${own.name}/${screen}`;

test("PRJ-20 LOG-4 a link opens a request with all that explains it: times, start, message, lines; in light and dark", async () => {
  await page.goto(at(`logs?request=${requestId}`));
  const drawer = page.getByRole("dialog");
  await drawer.getByText("asked the weather service").waitFor();
  const text = (await drawer.textContent()) ?? "";
  for (const part of [
    "it refused",
    "No data.",
    "In the server",
    "140 ms",
    "In the gateway",
    "10 ms",
    "A free slot on the host",
  ])
    expect(text).toContain(part);
  expect(text).toContain("Cut off: the log keeps the first 64 KiB.");
  await expectAccessibleInBothThemes(page);
});

test.runIf(isThorough)(
  "PRJ-20 PRJ-5 a raised tool without kept payloads: its row and the search have its message, its drawer the exception and the own line",
  async () => {
    const id = newId();
    const time = timeOfRequestId(id);
    const library = "/app/.venv/lib/python3.11/site-packages/fastmcp";
    const traceback = [
      "Traceback (most recent call last):",
      `  File "${library}/server.py", line 1497, in call_tool`,
      `  File "${library}/tools.py", line 452, in run`,
      '  File "/app/src/tools/prices.py", line 7, in parse',
      "ValueError: could not convert string to float: 'four'",
    ];
    const ids = { projectId: own.id, deploymentId };
    await writeServerLogs(
      site.pool,
      traceback.map((line) => ({
        ...ids,
        instanceId: null,
        stream: "stderr",
        level: "error",
        time,
        requestId: id,
        line,
      })),
    );
    await writeRequestLogs(site.pool, [
      requestLogRow({
        ...ids,
        organizationId: member.organization.id,
        id,
        time: time.getTime(),
        target: "total",
        isError: true,
        outcome: "tool_error",
        errorMessage: "Error calling tool 'total': could not convert 'four'",
      }),
    ]);
    await page.goto(at("logs?search=CONVERT&status=error"));
    const row = page.getByRole("table", { name: "Requests" }).getByRole("button", { name: /could not convert 'four'/ });
    await row.click();
    const drawer = page.getByRole("dialog");
    await drawer.getByText("ValueError: could not convert string to float: 'four'").first().waitFor();
    await drawer.getByText("Raised in parse, tools/prices.py line 7").waitFor();
    const framework = drawer.getByText(/server\.py", line 1497/);
    await drawer.getByText("2 frames of frameworks").waitFor();
    expect(await framework.isVisible()).toBe(false);
    await drawer.getByText("2 frames of frameworks").click();
    await framework.waitFor();
    await expect.poll(() => drawer.getByText("Keep payloads").count()).toBe(0);
  },
);

// tests/e2e/own-code.test.ts does the same, with lines that a server has printed.
test.runIf(isThorough)(
  "LOG-4 from a request to its place in the server's log, and from a line back to its request",
  async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(at(`logs?request=${requestId}`));
    await page.getByRole("link", { name: "Show in the server log" }).click();
    const log = page.getByRole("region", { name: "Server log" });
    await log.getByText("asked the weather service").waitFor();
    await log.getByText("other line 299", { exact: true }).waitFor();
    await log.getByRole("link", { name: "Show the request of this line" }).first().click();
    await page.getByRole("dialog").getByText("asked the weather service").waitFor();
    await expect.poll(() => page.url()).toContain(`request=${requestId}`);
  },
);

test.runIf(isThorough)(
  "PRJ-20 a link to a request that is not there says so, also for one of another project",
  async () => {
    const stranger = await browser.signedInPage(site.url, await seededMember(site.url, site.db));
    await stranger.goto(at(`logs?request=${requestId}`));
    await stranger.waitForLoadState("networkidle");
    await expect.poll(() => stranger.content()).not.toContain("weather");
    await page.goto(at(`logs?request=${newId()}`));
    await page.getByText("This request is not in the log").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).not.toContain("request=");
  },
);

/** Makes the build live with two tools, and logs captured calls of one of them and of one that is gone. */
async function logCalls(): Promise<{ kept: string; gone: string; cut: string }> {
  const inputSchema = { type: "object", properties: { city: { type: "string" }, key: { type: "string" } } };
  const tool = (name: string) => sampleTool(name, { description: null, inputSchema });
  const manifest = sampleManifest({ tools: [tool("alerts"), tool("weather")] });
  await site.db.update(build).set({ manifest }).where(eq(build.id, buildId));
  const ids = { projectId: own.id, branchId: own.branchId };
  await site.db.insert(route).values({ ...ids, label: own.name, deploymentId, sequence: 1 });
  const [kept, gone, cut] = [newId(), newId(), newId()];
  const row = (id: string, name: string) =>
    requestLogRow({
      projectId: own.id,
      organizationId: member.organization.id,
      deploymentId,
      id,
      target: name,
      time: timeOfRequestId(id).getTime(),
      requestPayload: { params: { name, arguments: { city: "Delft", key: "[API_KEY]" } } },
    });
  await writeRequestLogs(site.pool, [
    row(kept, "weather"),
    row(gone, "forecast"),
    { ...row(cut, "weather"), requestTruncated: true },
  ]);
  return { kept, gone, cut };
}

test.runIf(isThorough)(
  "PRJ-20 a captured call is replayed in the inspector: its tool and arguments are filled in, out of the address",
  async () => {
    const { kept, gone, cut } = await logCalls();
    await page.goto(at(`logs?request=${kept}`));
    await page.getByRole("link", { name: "Replay in the inspector" }).click();
    await page.waitForURL(/\/inspector\?/);
    await expect.poll(() => new URL(page.url()).searchParams.get("tool")).toBe("weather");
    await expect.poll(() => page.url()).not.toContain("Delft");
    const city = page.getByRole("textbox", { name: "city" });
    await city.waitFor();
    await expect.poll(() => city.inputValue()).toBe("Delft");
    await page.getByText("The log replaced secrets with names in brackets").waitFor();
    await expectAccessible(page);
    // Another tool's form is empty.
    await page.getByRole("option", { name: /^alerts/ }).click();
    await expect.poll(() => city.inputValue()).toBe("");
    await page.goto(at(`logs?request=${gone}`));
    await page.getByRole("link", { name: "Replay in the inspector" }).click();
    await page.getByText("This server has no tool forecast any more.").waitFor();
    await page.goto(at(`logs?request=${cut}`));
    await page.getByText("Request payload").waitFor();
    await expect.poll(() => page.getByRole("link", { name: "Replay in the inspector" }).count()).toBe(0);
    await page.goto(at(`inspector?request=${newId()}`));
    await page.getByText("The call can't be replayed").waitFor();
  },
);
