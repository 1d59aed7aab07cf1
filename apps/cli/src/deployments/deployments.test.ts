import { expect, test } from "vitest";
import { type Deployed, deploymentOf } from "./deployments.ts";
import { versionBefore } from "./rollback.ts";

const deployed = (commitSha: string, isLive = false): Deployed => ({
  id: commitSha,
  commitSha: commitSha.padEnd(40, "0"),
  commitMessage: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  branch: { name: "main" },
  project: { orgSlug: "local", name: "weather", defaultBranch: "main" },
  deployment: { id: commitSha, isLive, isProd: true, url: "http://localhost:8080/weather/mcp" },
});

test("PRJ-14 a commit is named by its first digits; one that isn't there, or isn't clear, says which there are", () => {
  const among = [deployed("abcd1"), deployed("abcd2"), deployed("ffff3")];
  expect(deploymentOf("ffff", among).id).toBe("ffff3");
  expect(deploymentOf("abcd2", among).id).toBe("abcd2");
  expect(deploymentOf("ffff", [deployed("ffff3", true), ...among]).deployment.isLive).toBe(true);
  expect(() => deploymentOf("abcd", among)).toThrow(/Several commits begin with abcd: abcd100, abcd200/);
  expect(() => deploymentOf("1234", among)).toThrow(/No deployment has commit 1234. There are: abcd100/);
  expect(() => deploymentOf("1234", [])).toThrow(/There are: none/);
  expect(() => deploymentOf("main", among)).toThrow(/is not a commit id/);
});

test("PRJ-14 without a commit, a rollback takes the version before the one that is live", () => {
  expect(versionBefore([deployed("aaaa"), deployed("bbbb", true), deployed("cccc")]).id).toBe("cccc");
  expect(() => versionBefore([deployed("aaaa"), deployed("bbbb")])).toThrow(/Nothing is live/);
  expect(() => versionBefore([deployed("aaaa"), deployed("bbbb", true)])).toThrow(/no earlier version/);
});
