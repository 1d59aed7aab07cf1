import { expect, test } from "vitest";
import { chosenPull } from "./approve.ts";
import { type Deployed, deploymentOf } from "./deployments.ts";
import { versionBefore } from "./rollback.ts";

const deployed = (commitSha: string, isLive = false, packageVersion: string | null = null): Deployed => ({
  id: commitSha,
  commitSha: commitSha.padEnd(40, "0"),
  packageVersion,
  commitMessage: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  branch: { name: "main" },
  project: { orgSlug: "local", name: "weather", defaultBranch: "main" },
  deployment: { id: commitSha, isLive, isProd: true, url: "http://localhost:8080/weather/mcp" },
  approval: null,
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
  const versions = [deployed("ffff3", true, "2.0"), deployed("abcd1", false, "1.9")];
  expect(deploymentOf("1.9", versions).id).toBe("abcd1");
  expect(() => deploymentOf("abcd", versions)).toThrow(/No deployment has version abcd. There are: 2.0, 1.9/);
});

test("PRJ-14 without a commit, a rollback takes the version before the one that is live", () => {
  expect(versionBefore([deployed("aaaa"), deployed("bbbb", true), deployed("cccc")]).id).toBe("cccc");
  expect(() => versionBefore([deployed("aaaa"), deployed("bbbb")])).toThrow(/Nothing is live/);
  expect(() => versionBefore([deployed("aaaa"), deployed("bbbb", true)])).toThrow(/no earlier version/);
});

test("BLD-9 a commit of a pull request from a fork is approved by the id that was read, and no other", () => {
  const pull = {
    number: 7,
    url: null,
    title: "t",
    author: "mallory",
    repository: "mallory/echo",
    state: "waiting" as const,
  };
  const pulls = [{ ...pull, commitSha: "abcdef0".padEnd(40, "0") }];
  expect(chosenPull(pulls, "7", "abcdef0").number).toBe(7);
  expect(chosenPull(pulls, "#7", "abcdef0").number).toBe(7);
  expect(() => chosenPull(pulls, "8", "abcdef0")).toThrow(/No open pull request/);
  expect(() => chosenPull(pulls, "7", "abc")).toThrow(/is not a commit id/);
  expect(() => chosenPull(pulls, "7", "1234567")).toThrow(/newest commit of #7 is abcdef0/);
});
