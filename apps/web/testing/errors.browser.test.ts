import { newId } from "@towpath/core/ids";
import { groupFailures } from "@towpath/core/operations/error-group";
import { seedLiveVersion, succeedBuild, testContext } from "@towpath/core/testing";
import { build, deployment, member, project as projectTable } from "@towpath/db/schema";
import { timeOfRequestId, writeRequestLogs, writeServerLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, openBrowser } from "./browser.ts";
import { type CodeRepositories, codeRepositories } from "./code-repositories.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
const server = `from fastmcp import FastMCP

mcp = FastMCP("Shop")
prices = {"oslo": 3}


@mcp.tool
def price(city: str) -> int:
    return prices[city]
`;
let owner: Member;
let code: CodeRepositories;
let page: Page;
let project: { readonly id: string; readonly name: string };
let first: { readonly buildId: string; readonly deploymentId: string };

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  code = await codeRepositories(site, owner, { "server.py": server, "requirements.txt": "fastmcp\n" });
  project = await code.deploy("shop");
  await site.db.update(projectTable).set({ capturePayloads: true }).where(eq(projectTable.id, project.id));
  const [queued] = await site.db.select().from(build).where(eq(build.projectId, project.id));
  const buildId = queued?.id ?? "";
  await succeedBuild(site.db, buildId);
  await site.db.update(build).set({ commitMessage: "Sell in Oslo" }).where(eq(build.id, buildId));
  const [made] = await site.db.select().from(deployment).where(eq(deployment.buildId, buildId));
  first = { buildId, deploymentId: made?.id ?? "" };
  page = await browser.signedInPage(site.url, owner);
});
afterAll(() => code.close());

const address = (path = "") => `${site.url}/${owner.organization.slug}/${project.name}${path}`;
const later = { now: () => new Date(Date.now() + 10_000) };

/** A call that raised, as the gateway and the runner write it, and the worker's next round. */
async function raise(
  city: string,
  more: { readonly tool?: string; readonly deploymentId?: string; readonly exception?: string } = {},
) {
  const { tool = "price", deploymentId = first.deploymentId, exception = `KeyError: '${city}'` } = more;
  const id = newId();
  const time = timeOfRequestId(id);
  const ids = { projectId: project.id, deploymentId };
  const lines = [
    "Traceback (most recent call last):",
    '  File "/app/.venv/lib/python3.11/site-packages/fastmcp/server.py", line 1497, in call_tool',
    `  File "/app/src/server.py", line 9, in ${tool}`,
    "    return prices[city]",
    exception,
  ];
  const common = { ...ids, instanceId: null, stream: "stderr", level: "error", time, requestId: id } as const;
  await writeServerLogs(
    site.pool,
    lines.map((line) => ({ ...common, line })),
  );
  await writeRequestLogs(site.pool, [
    requestLogRow({
      ...ids,
      organizationId: owner.organization.id,
      id,
      time: time.getTime(),
      target: tool,
      isError: true,
      outcome: "tool_error",
      errorMessage: `Error calling tool '${tool}'`,
      principal: `user:${owner.userId}`,
      clientName: "cursor",
      requestPayload: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: { city } } },
    }),
  ]);
  const ctx = { ...testContext(site.db, { kind: "job", job: "error-groups" }), clock: later };
  while ((await groupFailures({ ctx, input: { onGroupChange: async () => {} } })) > 0);
  return id;
}

const rows = () => page.getByRole("table", { name: "Errors" }).locator("tbody").getByRole("row");
const see = (text: string | RegExp) => page.getByText(text).first().waitFor();

test.runIf(isThorough)("CAP-6 without errors the page teaches with an example; in both themes", async () => {
  await page.goto(address());
  await page.getByRole("link", { name: "Logs", exact: true }).click();
  await page.getByRole("link", { name: "Errors", exact: true }).click();
  await page.getByRole("heading", { name: "No errors so far" }).waitFor();
  await see("return stations[city]");
  await expectAccessibleInBothThemes(page);
});

test("CAP-6 the Overview leads with what is new, and an error says where, since when, for whom, and shows the code and a call to replay", async () => {
  await raise("bergen");
  const id = await raise("nowhere");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(address());
  const strip = page.getByRole("region", { name: "Errors of the last 24 hours" });
  await strip.getByText("1 error is new or back").waitFor();
  // Of few calls, nothing is red.
  expect(await page.locator("#content :is([class*='-bad'], [style*='--bad'])").count()).toBe(0);
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await strip.getByRole("link", { name: "KeyError: 'nowhere'" }).click();
  await page.getByRole("heading", { level: 1, name: "KeyError: 'nowhere'" }).waitFor();
  for (const text of ["2 failures", "server.py:9", "New", "cursor", "Sell in Oslo"]) await see(text);
  await expect.poll(() => page.locator("[aria-current=location]").textContent()).toContain("return prices[city]");
  await see('"nowhere"');
  const replay = await page.getByRole("link", { name: "Replay in the inspector" }).getAttribute("href");
  expect(replay).toContain(`request=${id}`);
  expect(replay).toContain("tool=price");
  await expectAccessibleInBothThemes(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Older call" }).click();
  await see('"bergen"');
  await page.getByRole("link", { name: "Open in Logs" }).click();
  await page.getByRole("dialog").getByText("KeyError: 'bergen'").first().waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Open server.py line 9" }).click();
  await expect.poll(() => page.locator(".cm-marked").textContent()).toContain("return prices[city]");
});

test("CAP-6 on a phone an error's title has the width of its row", async () => {
  await raise("x", { tool: "order", exception: `OSError: ${"no disk ".repeat(8)}` });
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(address("/errors"));
  const row = rows().filter({ hasText: "no disk" });
  await row.waitFor();
  const [all, title] = [await row.boundingBox(), await row.getByRole("link").boundingBox()];
  expect((title?.width ?? 0) / (all?.width ?? 1)).toBeGreaterThan(0.55);
  await page.setViewportSize({ width: 1280, height: 800 });
});

test.runIf(isThorough)(
  "CAP-6 errors are found by text and tool, and resolved, ignored and reopened, several at once and by keyboard",
  async () => {
    await raise("x", { tool: "order", exception: "OSError: no disk" });
    await raise("y", { tool: "refund", exception: "ValueError: not paid" });
    await page.goto(address("/errors"));
    await expect.poll(() => rows().count()).toBe(3);
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press("/");
    await page.keyboard.type("DISK");
    await expect.poll(() => rows().count()).toBe(1);
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("OSError: no disk");
    await page.keyboard.press("o");
    await page.getByRole("heading", { level: 1, name: "OSError: no disk" }).waitFor();
    await page.getByRole("button", { name: "Ignore" }).click();
    await see("Ignored 1 error");
    await page.getByRole("button", { name: "Reopen" }).click();
    await see("Reopened 1 error");

    await page.goto(address("/errors"));
    await expect.poll(() => rows().count()).toBe(3);
    for (const key of ["j", "x", "j", "x", "e"]) await page.keyboard.press(key);
    await see("Resolved 2 errors");
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole("radio", { name: /^Resolved/ }).click();
    await expect.poll(() => rows().count()).toBe(2);
    await page.getByRole("checkbox", { name: "Select all errors" }).check();
    await page.getByRole("button", { name: "Reopen" }).click();
    await see("Reopened 2 errors");
    await see("Nothing is resolved");
  },
);

test.runIf(isThorough)(
  "CAP-6 a resolved error comes back with a newer deployment, and viewers change nothing",
  async () => {
    await page.goto(address("/errors?q=KeyError"));
    await rows().first().getByRole("link").click();
    await page.getByRole("button", { name: "Resolve" }).click();
    await see("Resolved 1 error");
    await raise("nowhere");
    await page.reload();
    await page.getByText("Resolved", { exact: true }).first().waitFor();
    const branch = await site.db.select().from(deployment).where(eq(deployment.id, first.deploymentId));
    const of = { id: project.id, branchId: branch[0]?.branchId ?? "" };
    const next = await seedLiveVersion(site.db, of, { label: project.name.toLowerCase(), sequence: 7 });
    await raise("nowhere", { deploymentId: next.deploymentId });
    await page.reload();
    await see("Back again");
    await see("4 failures");
    await page.goto(address());
    await page.getByRole("region", { name: "Errors of the last 24 hours" }).getByText("Back again").waitFor();

    await site.db.update(member).set({ role: "viewer" }).where(eq(member.userId, owner.userId));
    await page.goto(address("/errors"));
    await expect.poll(() => rows().count()).toBe(3);
    expect(await page.getByRole("checkbox").count()).toBe(0);
    await rows().first().getByRole("link").click();
    await see("A call that failed");
    expect(await page.getByRole("button", { name: "Resolve" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: /^Replay/ }).count()).toBe(0);
  },
);
