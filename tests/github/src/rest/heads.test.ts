import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGitHub } from "@towpath/github";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../thorough.ts";
import { git, startTestForge, type TestForge } from "../testing/test-forge.ts";

let forge: TestForge;
let directory: string;
beforeAll(async () => {
  forge = await startTestForge();
  directory = await mkdtemp(join(tmpdir(), "towpath-heads-"));
}, 30_000);
afterAll(async () => {
  await forge.close();
  await rm(directory, { recursive: true, force: true });
});

test.runIf(isThorough)(
  "GH-6 a repository of 300 branches that are unchanged is asked with four requests that cost nothing of the rate limit; a change is found wherever it is",
  {
    timeout: 120_000,
  },
  async () => {
    await forge.admin.ensureAccount({ login: "ada" });
    const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
    const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "many" });
    const run = (...args: string[]) => git(directory, ...args);
    await run("init", "-q", "-b", "main", ".");
    await run("commit", "-q", "--allow-empty", "-m", "First");
    const names = Array.from({ length: 299 }, (_, at) => `branch-${String(at).padStart(3, "0")}`);
    const push = (...refs: string[]) => run("push", "-q", pushUrl, ...refs);
    await push("main", ...names.map((name) => `HEAD:refs/heads/${name}`));
    const statuses: number[] = [];
    const client = createGitHub({
      ...forge.gitHubConfig,
      reach: async (url, init) => {
        const response = await fetch(url, init);
        if (url.pathname.endsWith("/branches")) statuses.push(response.status);
        return response;
      },
    });
    const address = { installationId, owner: "ada", name: "many" };
    let etag: string | null = null;
    const ask = async () => {
      const answer = await client.heads(address, etag);
      etag = answer?.etag ?? etag;
      return { heads: answer?.heads ?? null, statuses: statuses.splice(0) };
    };
    const first = await ask();
    expect([first.heads?.size, first.statuses]).toEqual([300, [200, 200, 200, 200]]);
    expect(await ask()).toEqual({ heads: null, statuses: [304, 304, 304, 304] });

    // A change in the middle, an addition at the end, and a removal at the beginning.
    await run("commit", "-q", "--allow-empty", "-m", "Second");
    const second = (await run("rev-parse", "HEAD")).trim();
    await push("HEAD:refs/heads/branch-150");
    const middle = await ask();
    expect([middle.heads?.size, middle.heads?.get("branch-150")]).toEqual([300, second]);
    expect(middle.statuses.toSorted()).toEqual([200, 200, 200, 200, 304]);
    expect((await ask()).statuses).toEqual([304, 304, 304, 304]);
    await push("HEAD:refs/heads/zzz");
    expect((await ask()).heads?.get("zzz")).toBe(second);
    await push(":refs/heads/branch-000", ":refs/heads/zzz");
    const less = await ask();
    expect([less.heads?.size, less.heads?.has("branch-000"), less.heads?.has("zzz")]).toEqual([299, false, false]);
    // The last page isn't full any more, so nothing can follow it unnoticed.
    expect(await ask()).toEqual({ heads: null, statuses: [304, 304, 304] });
  },
);
