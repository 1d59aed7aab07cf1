import { expect, test } from "vitest";
import { createMcpListener } from "../../../gateway/src/testing/mcp-server.ts";
import { openRig, setLimits } from "../../../gateway/src/testing/rig.ts";
import { createOpenReplayServer } from "./open-replay-server.ts";

const rig = openRig();
const callOf = (tool: string, given = {}) => ({ id: crypto.randomUUID(), tool, arguments: given });
const { signal } = new AbortController();

test.each(["towpath-cloud", "towpath-public"])(
  "CAP-4 a worker calls a server through the gateway as the check: %s",
  async (authMode) => {
    const server = await rig.deploy(createMcpListener(), { authMode: authMode as never });
    const opened = createOpenReplayServer(rig.signingKeys)({
      url: server.url.href,
      projectId: server.projectId,
      authMode,
    });
    const [first, second] = await Promise.all([
      opened.ask(callOf("echo", { text: "one" }), signal),
      opened.ask(callOf("echo", { text: "two" }), signal),
    ]);
    expect(JSON.stringify([first, second])).toMatch(/one.*two/);
    expect(first).toMatchObject({ kind: "result", isError: false, ms: expect.any(Number) });
    const unknown = await opened.ask(callOf("nothing-like-this"), signal);
    expect(["error", "result"]).toContain(unknown.kind);
    await opened.close();
    const rows = await rig.rows(server.projectId, 3);
    expect(new Set(rows.map(({ principal }) => principal))).toEqual(new Set(["check"]));
    expect(rows.some(({ clientName }) => clientName === "towpath-check")).toBe(true);
    expect(rows.every(({ isError }) => !isError)).toBe(true);
  },
);

test("CAP-4 a call that fails takes no other with it that is under way", async () => {
  const listener = createMcpListener();
  const server = await rig.deploy(
    (request, response) => {
      const tool = request.headers["mcp-name"];
      if (tool === "fail") response.destroy();
      else if (tool === "echo") setTimeout(listener, 300, request, response);
      else listener(request, response);
    },
    { authMode: "towpath-cloud" },
  );
  const target = { url: server.url.href, projectId: server.projectId, authMode: "towpath-cloud" };
  const opened = createOpenReplayServer(rig.signingKeys)(target);
  const calls = ["fail", "echo", "echo"].map((tool) => opened.ask(callOf(tool, { text: "one" }), signal));
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(["none", "result", "result"]);
  await opened.close();
});

test("CAP-4 a worker waits where the limit of calls refuses for now, and says why where nothing answers", async () => {
  const server = await rig.deploy(createMcpListener(), { authMode: "towpath-cloud" });
  const open = (url: string) =>
    createOpenReplayServer(rig.signingKeys)({ url, projectId: server.projectId, authMode: "towpath-cloud" });
  const opened = open(server.url.href);
  await opened.ask(callOf("echo", { text: "one" }), signal);
  await setLimits(rig.database, server.projectId, { caller: { perMinute: 60, burst: 1 } });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const answers = await Promise.all([1, 2].map((n) => opened.ask(callOf("echo", { text: `${n}` }), signal)));
  expect(answers.map(({ kind }) => kind)).toEqual(["result", "result"]);
  await opened.close();
  const gone = open(server.url.href.replace(server.label, "no-such-server"));
  expect(await gone.ask(callOf("echo"), signal)).toMatchObject({ kind: "none", reason: expect.stringMatching(/\w/) });
  await gone.close();
});
