import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import type { GitHubTarget, TargetRepository } from "@towpath/core/ports";
import { openRepositories, type Repositories } from "@towpath/git";
import { createGitHubConnections, createGitHubTarget, type GitHubConfig } from "@towpath/github";
import { freePort } from "@towpath/role/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../thorough.ts";
import { git, startTestForge, type TestForge } from "../testing/test-forge.ts";

/** The product's client and stored repositories, to move a repository of an instance here. */
let forge: TestForge;
let target: GitHubTarget;
let directory: string;
let store: Repositories;
let acme: number;
let ada: number;
let id: string;

const targetOf = (config: GitHubConfig) => createGitHubTarget(createGitHubConnections(config, async () => []));
const stored = () => join(directory, "stored", `${id}.git`);
const work = () => join(directory, id);

beforeAll(async () => {
  forge = await startTestForge();
  target = targetOf(forge.gitHubConfig);
  directory = await mkdtemp(join(tmpdir(), "towpath-continue-"));
  store = openRepositories({ directory: join(directory, "stored") });
  await forge.admin.ensureAccount({ login: "acme", type: "Organization" });
  await forge.admin.ensureAccount({ login: "ada" });
  ({ installationId: acme } = await forge.admin.ensureInstallation({ login: "acme" }));
  ({ installationId: ada } = await forge.admin.ensureInstallation({ login: "ada" }));
});
afterAll(async () => {
  await forge.close();
  await rm(directory, { recursive: true, force: true });
});
/** A stored repository with some history on two branches, and two tags. */
beforeEach(async () => {
  await forge.setPushRule(null);
  id = randomUUID();
  await store.create(id, "trunk");
  await git(directory, "init", "--quiet", "--template=", "--initial-branch=trunk", work());
  for (const message of ["one", "two", "three"]) await git(work(), "commit", "--quiet", "--allow-empty", "-m", message);
  await git(work(), "tag", "light", "HEAD~1");
  await git(work(), "tag", "-a", "v1", "-m", "First");
  await git(work(), "push", "--quiet", stored(), "trunk", "HEAD~1:refs/heads/fix/a", "--tags");
});

async function make(name: string, installationId = acme, userToken: string | null = null) {
  const made = await target.make({ installationId, name, private: true, userToken });
  if (made.kind !== "made") throw new Error(inspect(made));
  return {
    there: made.repository,
    address: { installationId, owner: made.repository.fullName.split("/")[0] ?? "", name },
  };
}
type Made = Awaited<ReturnType<typeof make>>;
const push = async ({ there, address }: Made, by = target) => store.push(id, await by.remote(address, there));
const refusal = (pushed: Promise<unknown>) =>
  pushed.then(
    () => expect.fail("was not refused"),
    (error: Error & { code?: string }) => error,
  );
const refsAt = async ({ there }: { readonly there: TargetRepository }) =>
  (
    await git(
      work(),
      "ls-remote",
      (
        await forge.admin.ensureRepository(ownerAndName(there))
      ).pushUrl,
      "refs/heads/*",
      "refs/tags/*",
    )
  )
    .trim()
    .split("\n")
    .filter((line) => !line.endsWith("^{}"))
    .map((line) => line.split("\t").toReversed().join(" "));
const ownerAndName = ({ fullName }: TargetRepository) => {
  const [owner = "", name = ""] = fullName.split("/");
  return { owner, name };
};
const refsHere = async () => [...(await store.listRefs(id))].map((pair) => pair.join(" "));

test("SRC-3 GH-1 all branches and tags with their history go to a new private repository of an organization", async () => {
  expect(await target.account(acme)).toMatchObject({ login: "acme", isPerson: false, hostUrl: forge.url });
  const made = await make("weather");
  expect(made.there).toMatchObject({ fullName: "acme/weather", private: true, url: `${forge.url}/acme/weather` });
  expect(await target.heads(made.address)).toEqual(new Map());
  await push(made);
  expect((await refsAt(made)).toSorted()).toEqual((await refsHere()).toSorted());
  expect(await refsHere()).toHaveLength(4);
  const url = (await forge.admin.ensureRepository({ owner: "acme", name: "weather" })).pushUrl;
  await git(directory, "clone", "--quiet", "--branch", "trunk", url, `${id}-clone`);
  expect(await git(join(directory, `${id}-clone`), "log", "--format=%s")).toBe("three\ntwo\none\n");
  await target.setDefaultBranch(made.address, "fix/a");
  expect(await target.find({ installationId: acme, id: made.there.id })).toMatchObject({ defaultBranch: "fix/a" });
  // Again, as after a failure: nothing is left to do.
  await push(made);
  expect(await target.make({ installationId: acme, name: "Weather", private: true, userToken: null })).toEqual({
    kind: "taken",
  });
});

test.runIf(isThorough)("SRC-3 ONB-4 in a person's account only that person's token makes one", async () => {
  const own = await forge.admin.userToken("ada");
  await forge.admin.ensureAccount({ login: "mallory" });
  const theirs = await forge.admin.userToken("mallory");
  const repository = { installationId: ada, name: "rain", private: true };
  expect(await target.make({ ...repository, userToken: theirs })).toEqual({ kind: "other-user", login: "mallory" });
  expect(await target.make({ ...repository, userToken: null })).toEqual({ kind: "refused" });
  expect(await target.find({ installationId: ada, owner: "ada", name: "rain" })).toBeNull();
  const made = await make("rain", ada, own);
  await push(made);
  expect((await refsAt(made)).toSorted()).toEqual((await refsHere()).toSorted());
  expect(await target.find({ installationId: acme, id: made.there.id })).toBeNull();
});

test.runIf(isThorough)(
  "SRC-3 GH-2 ERR-1 what GitHub's rules refuse is reported with its reason and what to do, and without the token; the next push completes",
  async () => {
    const made = await make("ruled");
    const secret = "error: GH013: Repository rule violations found for refs/heads/trunk.";
    const rules = [
      [
        `echo "${secret}" >&2; echo "- Push cannot contain secrets https://github.com/unblock/2x" >&2`,
        /unblock\/2x.*Revoke the secret/s,
      ],
      ['echo "error: GH006: Protected branch update failed." >&2', /GH006.*Change the rules/s],
      [
        'echo "error: File data.bin is 120.00 MB; this exceeds GitHub\'s file size limit of 100.00 MB" >&2',
        /data\.bin.*Remove the large files/s,
      ],
      [
        'echo "refusing to allow a GitHub App to create or update workflow without \\`workflows\\` permission" >&2',
        /permission Workflows/,
      ],
      [":", /pre-receive hook declined.*try again/s],
    ] as const;
    for (const [script, text] of rules) {
      await forge.setPushRule(`${script}\nexit 1`);
      const error = await refusal(push(made));
      expect([error.code, error.message]).toEqual(["conflict", expect.stringMatching(text)]);
      expect(error.message).toMatch(/^localhost refuses the push: /);
      expect(inspect(error, { depth: 9 })).not.toMatch(/forge_i_|Basic [A-Za-z0-9+/=]{8}/);
    }
    await forge.setPushRule(null);
    await push(made);
    expect((await refsAt(made)).toSorted()).toEqual((await refsHere()).toSorted());
  },
);

test.runIf(isThorough)("SRC-3 commits that somebody pushed there are not overwritten", async () => {
  const made = await make("theirs");
  await push(made);
  const { pushUrl } = await forge.admin.ensureRepository({ owner: "acme", name: "theirs" });
  await git(work(), "commit", "--quiet", "--allow-empty", "-m", "there");
  await git(work(), "push", "--quiet", pushUrl, "trunk");
  await git(work(), "reset", "--quiet", "--hard", "HEAD~1");
  await git(work(), "commit", "--quiet", "--allow-empty", "-m", "here");
  await git(work(), "push", "--quiet", stored(), "trunk");
  const error = await refusal(push(made));
  expect([error.code, error.message]).toEqual([
    "conflict",
    expect.stringMatching(/commits that this repository doesn't have/),
  ]);
});

test.runIf(isThorough)(
  "SRC-3 GH-5 a host that somebody has typed is pushed to only at addresses that the operator allows",
  async () => {
    const made = await make("inside");
    const typed = { ...(await target.remote(made.address, made.there)), atAnyAddress: false };
    const error = await refusal(store.push(id, typed));
    expect([error.code, error.message]).toEqual(["invalid_input", expect.stringMatching(/TOWPATH_EXTERNAL_NETWORKS/)]);
    expect(await target.heads(made.address)).toEqual(new Map());
    const policy = { allows: () => true };
    await openRepositories({ directory: join(directory, "stored"), policy }).push(id, typed);
    expect((await refsAt(made)).toSorted()).toEqual((await refsHere()).toSorted());
  },
);

test.runIf(isThorough)(
  "SRC-3 ERR-1 a host that can't be reached or breaks off is reported, and the next push completes",
  async () => {
    const made = await make("elsewhere");
    const gone = targetOf({ ...forge.gitHubConfig, url: `http://localhost:${await freePort()}` });
    const unreached = await refusal(push(made, gone));
    expect([unreached.code, unreached.message]).toEqual([
      "upstream_unavailable",
      expect.stringMatching(/broke or could not be made/),
    ]);
    // The receiving process dies in the middle of the push.
    await forge.setPushRule("kill -9 $PPID");
    expect((await refusal(push(made))).code).toBe("upstream_unavailable");
    await forge.setPushRule(null);
    await push(made);
    expect((await refsAt(made)).toSorted()).toEqual((await refsHere()).toSorted());
  },
);

test.runIf(isThorough)(
  "SRC-3 GH-2 no command line has the token while git pushes, and no file of the repository afterwards",
  async () => {
    const made = await make("quiet");
    await forge.setPushRule("sleep 1");
    let isPushing = true;
    const pushed = push(made).finally(() => {
      isPushing = false;
    });
    const seen: string[] = [];
    while (isPushing) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name)))
        seen.push(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""));
    }
    await pushed;
    expect(seen.some((line) => line.includes("remote-http") && line.includes("/acme/quiet.git"))).toBe(true);
    expect(seen.filter((line) => /forge_i_|[Bb]asic /.test(line))).toEqual([]);
    expect(await readFile(join(stored(), "config"), "utf8")).not.toMatch(/forge_i_|extraHeader/i);
  },
);
