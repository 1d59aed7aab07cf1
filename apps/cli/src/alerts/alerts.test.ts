import { expect, onTestFinished, test, vi } from "vitest";
import { startStandIn } from "../testing/stand-in.ts";
import { alerts } from "./alerts.ts";

const channel = {
  id: "0198f6a0-0000-7000-8000-000000000000",
  name: "On call",
  format: "slack",
  host: "hooks.slack.test",
  recipients: null,
  events: ["error.new", "deployment.failed"],
  servers: null,
  state: "failing",
};
const delivery = {
  channel: { name: "On call" },
  title: "Test",
  status: "failed",
  lastStatus: 404,
  lastAnswer: "no_service",
  createdAt: new Date().toISOString(),
};

test("CAP-6 the terminal lists channels and deliveries, and tests a channel with the receiver's answer", async () => {
  const asked: string[] = [];
  let sent: object = delivery;
  let channels = [channel];
  const standIn = await startStandIn((request, response) => {
    const { url = "", method } = request;
    if (url !== "/api/v1/caller") asked.push(`${method} ${url}`);
    response.writeHead(200, { "content-type": "application/json" });
    const answer =
      url === "/api/v1/caller"
        ? { organization: { slug: "acme" } }
        : method === "POST"
          ? sent
          : url.endsWith("/alert-channels")
            ? channels
            : [delivery];
    response.end(JSON.stringify(answer));
  });
  const printed: string[] = [];
  const log = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  onTestFinished(async () => {
    log.mockRestore();
    await standIn.close();
  });
  const run = (...args: string[]) => alerts([...args, "--data-dir", standIn.directory]);
  expect(await run()).toBe(0);
  expect(printed.join("")).toMatch(
    /! On call {2}slack {2}hooks\.slack\.test {2}failing\n {2}0198f6a0\S+ {2}all servers/,
  );
  expect(await run("deliveries")).toBe(0);
  expect(await run("test", "on call")).toBe(1);
  expect(printed.at(-1)).toContain("answered 404: no_service");
  sent = { ...delivery, status: "sent", lastStatus: 200, lastAnswer: "ok" };
  expect(await run("test", channel.id, "--organization", "other")).toBe(0);
  const path = "/api/v1/organizations/acme";
  expect(asked).toEqual([
    `GET ${path}/alert-channels`,
    `GET ${path}/alert-deliveries`,
    `GET ${path}/alert-channels`,
    `POST ${path}/alert-channels/${channel.id}/test`,
    "GET /api/v1/organizations/other/alert-channels",
    `POST /api/v1/organizations/other/alert-channels/${channel.id}/test`,
  ]);
  // A receiver's answer neither controls the terminal nor looks like a line of ours.
  sent = { ...delivery, title: "a\u001b[2Jb", lastAnswer: "x\n\u001b[32m✓ All is well" };
  await run("test", "on call");
  expect(printed.slice(-2)).toEqual([
    expect.stringMatching(/^✗ a \[2Jb {2}.+\n$/),
    "  answered 404: x [32m✓ All is well\n",
  ]);
  await expect(run("tset")).rejects.toThrow("tset is not list, deliveries or test. Did you mean test?");
  await expect(run("test")).rejects.toThrow("Name the channel");
  await expect(run("list", "x")).rejects.toThrow("x is too much for list");
  await expect(run("test", "nothing")).rejects.toThrow("There is no alert channel nothing.");
  channels = [channel, { ...channel, id: "other" }];
  await expect(run("test", "On call")).rejects.toThrow("2 channels are called On call.");
});
