import { expect, onTestFinished, test, vi } from "vitest";
import { startStandIn } from "../testing/stand-in.ts";
import { release } from "./release.ts";

const version = (letter: string) => ({
  deploymentId: `0198f6a0-0000-7000-8000-00000000000${letter}`,
  buildId: `0198f6a0-0000-7000-8000-00000000001${letter}`,
  commitSha: letter.repeat(40),
  commitMessage: null,
  packageVersion: null,
});
const at = "2026-11-27T10:00:00.000Z";
const running = {
  id: "0198f6a0-0000-7000-8000-000000000002",
  state: "running",
  reason: null,
  share: 5,
  steps: [5, 25, 50],
  step: 0,
  minutesPerStep: 15,
  maxErrorPoints: 2,
  maxLatencyFactor: 1.5,
  minCalls: 20,
  revision: 1,
  stable: version("a"),
  candidate: version("b"),
  startedAt: at,
  stepStartedAt: at,
  endedAt: null,
  isCurrent: true,
};
const figures = {
  stable: { calls: 120, errors: 1, p50Ms: 20, p95Ms: 80 },
  candidate: { calls: 7, errors: 0, p50Ms: null, p95Ms: null },
};
const policy = {
  isGradual: false,
  minutesPerStep: 15,
  maxErrorPoints: 2,
  maxLatencyFactor: 1.5,
  minCalls: 20,
  approval: "nobody",
};
const deployed = {
  id: "1",
  commitSha: "b".repeat(40),
  packageVersion: null,
  commitMessage: "Answer faster",
  createdAt: at,
  branch: { name: "main" },
  project: { orgSlug: "local", name: "weather", defaultBranch: "main" },
  deployment: { id: "d", isLive: false, isProd: true, url: "http://localhost:8080/weather/mcp" },
  approval: "waiting",
};

function answerOf(method: string, path: string): unknown {
  if (path.endsWith("/release-policy"))
    return method === "GET" ? policy : { ...policy, isGradual: true, approval: "admin" };
  if (path.includes("/projects/weather/deployments?")) return { data: [deployed] };
  if (path.endsWith("/approve")) return { isLive: true, url: deployed.deployment.url };
  if (method === "GET") return { release: running, figures };
  return { release: { ...running, state: "went-back", share: 0, reason: "Somebody chose to go back." }, figures: null };
}

async function openTerminal() {
  const asked: string[] = [];
  const standIn = await startStandIn(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    asked.push(`${request.method} ${request.url} ${body}`.trim());
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answerOf(request.method ?? "", request.url ?? "")));
  });
  let printed = "";
  const log = vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  onTestFinished(async () => {
    log.mockRestore();
    await standIn.close();
  });
  const run = async (...args: string[]) => {
    printed = "";
    expect(await release(["weather", ...args, "--data-dir", standIn.directory])).toBe(0);
    return printed;
  };
  return { asked, run };
}

const path = "/api/v1/projects/weather";

test("CAP-8 the terminal shows a release with both versions' figures, and moves it", async () => {
  const { asked, run } = await openTerminal();
  const text = await run();
  expect(text).toContain("5 % of new sessions get bbbbbbb, the others aaaaaaa.");
  expect(text).toMatch(/aaaaaaa +120 +1 +20 ms +80 ms/);
  expect(text).toMatch(/bbbbbbb +7 +0 +– +–/);
  expect(await run("back")).toContain("Went back: bbbbbbb. Somebody chose to go back.");
  expect(asked).toEqual([`GET ${path}/release`, `POST ${path}/release {"action":"back"}`]);
});

test("CAP-8 the terminal approves what waits, and shows and changes how a server is released", async () => {
  const { asked, run } = await openTerminal();
  expect(await run("approve")).toContain("Live at http://localhost:8080/weather/mcp");
  expect(await run("settings")).toContain("Pushes are released at once.");
  const changed = await run("settings", "--gradually", "on", "--minutes", "30", "--approval", "admin");
  expect(changed).toContain("An admin or owner approves versions for production.");
  expect(asked.slice(1)).toEqual([
    "POST /api/v1/deployments/d/approve",
    `GET ${path}/release-policy`,
    `PATCH ${path}/release-policy {"isGradual":true,"minutesPerStep":30,"approval":"admin"}`,
  ]);
});

test("CAP-8 what the terminal can't understand is named before anything is sent", async () => {
  const { asked, run } = await openTerminal();
  await expect(run("forward")).rejects.toThrow("There is no action forward.");
  await expect(run("settings", "--gradually", "yes")).rejects.toThrow("--gradually must be on or off, not yes.");
  await expect(run("settings", "--minutes", "long")).rejects.toThrow("--minutes must be a number, not long.");
  await expect(run("settings", "--approval", "all")).rejects.toThrow(
    "--approval must be nobody, admin or owner, not all.",
  );
  await expect(run("next", "--minutes", "5")).rejects.toThrow("Settings are changed by:");
  expect(asked).toEqual([]);
});
