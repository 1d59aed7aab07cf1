import type { ReplayView } from "@towpath/core/delivery/replay/schema";
import { expect, onTestFinished, test, vi } from "vitest";
import { settings } from "../settings/settings.ts";
import { startStandIn } from "../testing/stand-in.ts";
import { replay } from "./replay.ts";

const at = "2026-11-27T10:00:00.000Z";
const deployed = {
  id: "0198f6a0-0000-7000-8000-000000000001",
  commitSha: "b".repeat(40),
  packageVersion: null,
  commitMessage: "Rename a field",
  createdAt: at,
  branch: { name: "topic" },
  project: { orgSlug: "local", name: "weather", defaultBranch: "main" },
  deployment: { id: "d", isLive: true, isProd: false, url: "http://localhost:8080/weather-topic/mcp" },
};
const view: ReplayView = {
  state: "done",
  text: "2 calls of 1 tool: 1 different",
  verdict: "different",
  calls: 2,
  different: 1,
  tools: 1,
  isRequired: false,
  mayReplay: true,
  requestedAt: at,
  endedAt: at,
  production: { buildId: deployed.id, commitSha: "a".repeat(40) },
  remarks: ["The preview has other environment variables."],
  report: {
    verdict: "different",
    seconds: 2,
    requests: 6,
    tools: [
      {
        tool: "forecast",
        replayed: 2,
        different: 1,
        differences: [
          { kind: "lost", path: "city", was: '"Oslo"', is: null, calls: 1, counts: true, text: "city is gone." },
        ],
        moreDifferences: 0,
        latency: null,
        examples: [],
      },
    ],
    notCompared: [{ tool: "slow", calls: 3, reason: "seconds", text: "The time was used up." }],
  },
  questions: {
    verdict: "different",
    model: "Claude",
    seconds: 3,
    calls: 4,
    tokens: 4200,
    questions: [
      {
        question: "Will it rain in Oslo?",
        state: "other-tool",
        production: { tool: "forecast", arguments: '{"city":"Oslo"}' },
        preview: { tool: null, arguments: null },
        text: "The model now chooses no tool instead of forecast.",
      },
    ],
  },
};
const project = {
  name: "weather",
  url: "http://localhost:8080/weather/mcp",
  authMode: "towpath-cloud",
  entrypoint: "s.py",
  arguments: [],
  requirements: null,
  rootDirectory: null,
  watchPaths: [],
  failOnBreakingChanges: false,
  keepsData: false,
  ownSignIn: null,
  package: null,
  source: null,
};

async function openTerminal(states: readonly ReplayView["state"][]) {
  const asked: string[] = [];
  const left = [...states];
  let setting: object = { replay: null };
  const standIn = await startStandIn(async (request, response) => {
    let body = "";
    for await (const piece of request) body += String(piece);
    asked.push(`${request.method} ${request.url?.split("?")[0]} ${body}`.trim());
    if (request.method === "PATCH") setting = { ...setting, ...JSON.parse(body) };
    const answer = request.url?.includes("/deployments")
      ? { data: [deployed] }
      : request.url?.endsWith("/replay")
        ? { ...view, state: request.method === "POST" ? "waiting" : (left.shift() ?? "done") }
        : { ...project, ...setting };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
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
  return { asked, text: () => printed, more: ["--data-dir", standIn.directory] };
}

test("CAP-4 the terminal replays again, waits, prints what became different, and ends with 1; as JSON too", async () => {
  const { asked, text, more } = await openTerminal(["running", "done"]);
  expect(await replay(["weather", "topic", "--again", ...more])).toBe(1);
  expect(text()).toMatch(/1 different[\s\S]*other environment variables[\s\S]*city is gone\.\s+production "Oslo"/);
  expect(text()).toContain("slow, 3 not compared: The time was used up.");
  expect(text()).toMatch(
    /Claude, 4 calls, 4,200 tokens\s+Will it rain in Oslo\?\s+The model now chooses no tool instead of forecast\.\s+production forecast \{"city":"Oslo"\}\s+preview\s+no tool/,
  );
  const path = `/api/v1/builds/${deployed.id}/replay`;
  expect(asked.slice(1)).toEqual([`POST ${path}`, `GET ${path}`, `GET ${path}`]);
});

test("CAP-4 the terminal switches replays on, requires same answers, marks tools, and keeps what isn't named", async () => {
  const { asked, text, more } = await openTerminal([]);
  await settings(["weather", "--replay", "required", "--replay-tool", "search", ...more]);
  await settings(["weather", "--replay", "on", ...more]);
  await settings(["weather", "--replay", "off", ...more]);
  expect(asked.filter((each) => each.startsWith("PATCH"))).toEqual(
    [{ isRequired: true, tools: ["search"] }, { tools: ["search"], isRequired: false }, null].map(
      (replay) => `PATCH /api/v1/projects/weather ${JSON.stringify({ replay })}`,
    ),
  );
  expect(text()).toContain("replayed on previews; the check fails where answers are different; also search");
  await expect(settings(["weather", "--replay", "maybe", ...more])).rejects.toThrow(
    "--replay must be on, required or off",
  );
});

test("CAP-4 the terminal saves questions to a model, asks them or not, and keeps what isn't named", async () => {
  const { asked, text, more } = await openTerminal([]);
  await settings(["weather", "--questions", "on", "--question", "Rain?", "--question", "Wind?", ...more]);
  expect(text()).toContain("asked 2 questions on previews");
  await settings(["weather", "--questions", "off", ...more]);
  expect(text()).toContain("not asked; 2 questions saved");
  await settings(["weather", "--question=", ...more]);
  expect(asked.filter((each) => each.startsWith("PATCH"))).toEqual(
    [
      { isOn: true, texts: ["Rain?", "Wind?"] },
      { isOn: false, texts: ["Rain?", "Wind?"] },
      { isOn: false, texts: [] },
    ].map((checkQuestions) => `PATCH /api/v1/projects/weather ${JSON.stringify({ checkQuestions })}`),
  );
  await expect(settings(["weather", "--questions", "maybe", ...more])).rejects.toThrow("--questions must be on or off");
});
