import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, git, locationOf, startTestForge, type TestForge } from "../testing/test-forge.ts";

let forge: TestForge;

beforeAll(async () => {
  forge = await startTestForge();
});

afterAll(() => forge.close());

test("GH-3 operator routes need the derived token and answer the same twice", async () => {
  expect(await forge.admin.available()).toBe(true);
  await forge.admin.ensureAccount({ login: "ada" });
  const { installationId } = await forge.admin.ensureInstallation({ login: "ada" });
  const first = await forge.admin.ensureRepository({ owner: "ada", name: "tools" });
  const again = await forge.admin.ensureRepository({ owner: "ada", name: "tools" });
  // A deploy keeps the clean-up away: that moves the time of the last change.
  expect({ ...again, repository: { ...again.repository, updated_at: first.repository.updated_at } }).toEqual(first);
  expect(await forge.admin.ensureInstallation({ login: "ada" })).toEqual({ installationId });
  for (const authorization of ["", "Bearer a client secret for tests", "Bearer wrong"]) {
    const response = await fetch(`${forge.url}/internal/accounts`, {
      method: "POST",
      headers: { authorization },
      body: '{"login":"mal"}',
    });
    expect(response.status).toBe(401);
  }
  await expect(forge.admin.ensureAccount({ login: "../etc" })).rejects.toMatchObject({ code: "invalid" });
  await expect(forge.admin.ensureRepository({ owner: "ada", name: "a/b" })).rejects.toMatchObject({ code: "invalid" });
  await expect(forge.admin.ensureAccount({ login: "api" })).rejects.toMatchObject({ code: "invalid" });
});

test("GH-3 the terminal gets no way into a repository that a person made", async () => {
  await forge.admin.ensureAccount({ login: "eve" });
  const browser = new Browser(forge.url);
  await browser.submit("/login", { existing: "eve" });
  const made = await browser.submit("/new", { name: "by-hand", description: "", visibility: "public" });
  expect(made.status).toBe(303);
  await expect(forge.admin.ensureRepository({ owner: "eve", name: "by-hand" })).rejects.toMatchObject({
    code: "conflict",
  });
  await expect(forge.admin.ensureRepository({ owner: "eve", name: "BY-HAND" })).rejects.toMatchObject({
    code: "conflict",
  });
  const later = new Date(Date.now() + 60_000);
  await forge.admin.ensureRepository({ owner: "eve", name: "by-terminal" });
  const unchanged = await forge.admin.unchangedRepositories(later);
  expect(unchanged.map(({ fullName }) => fullName)).toContain("eve/by-terminal");
  expect(unchanged.map(({ fullName }) => fullName)).not.toContain("eve/by-hand");
  const state = new DatabaseSync(join(forge.directory, "forge", "forge.sqlite"), { readOnly: true });
  const byHand = state.prepare("SELECT id FROM repository WHERE name = 'by-hand'").get();
  state.close();
  const deletion = forge.admin.deleteRepository({ id: Number(byHand?.id), unchangedSince: later });
  await expect(deletion).rejects.toMatchObject({ code: "conflict" });
});

test("GH-3 an installation on chosen repositories is not widened; the deployed repository joins it", async () => {
  await forge.admin.ensureAccount({ login: "gil" });
  const { repository } = await forge.admin.ensureRepository({ owner: "gil", name: "chosen" });
  const { repository: later } = await forge.admin.ensureRepository({ owner: "gil", name: "later" });
  await forge.admin.ensureRepository({ owner: "gil", name: "hidden" });
  const browser = new Browser(forge.url);
  await browser.submit("/login", { existing: "gil" });
  const fields = { selection: "selected", repository: String(repository.id) };
  const back = locationOf(await browser.submit("/apps/towpath-test/installations", fields));
  const installationId = Number(back.searchParams.get("installation_id"));
  expect(await forge.admin.ensureInstallation({ login: "gil" })).toEqual({ installationId });
  expect((await forge.admin.ensureRepository({ owner: "gil", name: "later" })).repository.id).toBe(later.id);
  const { items } = await forge.gitHub.repositories(installationId);
  expect(items.map(({ name }) => name)).toEqual(["chosen", "later"]);
});

test("GH-3 a state from before makers and forks goes on: its repositories count as a person's, pull requests are their own", async () => {
  await forge.admin.ensureAccount({ login: "fay" });
  const { repository } = await forge.admin.ensureRepository({ owner: "fay", name: "old" });
  await forge.stop();
  const state = new DatabaseSync(join(forge.directory, "forge", "forge.sqlite"));
  const old = [
    "repository DROP COLUMN made_by",
    "repository DROP COLUMN parent_id",
    "pull_request DROP COLUMN head_repository_id",
  ];
  state.exec(old.map((change) => `ALTER TABLE ${change};`).join("\n"));
  state.exec(`INSERT INTO pull_request
    (repository_id, number, title, head, base, head_sha, base_sha, state, author_id, created_at, updated_at)
    SELECT id, 1, 'Old', 'new', 'main', 'a', 'b', 'open', owner_id, created_at, created_at FROM repository WHERE id = ${repository.id};
    PRAGMA user_version = 1`);
  state.close();
  await forge.restart();
  await expect(forge.admin.ensureRepository({ owner: "fay", name: "old" })).rejects.toMatchObject({ code: "conflict" });
  await forge.admin.ensureRepository({ owner: "fay", name: "new" });
  expect(await (await fetch(`${forge.url}/api/v3/repos/fay/old/pulls/1`)).json()).toMatchObject({
    head: { label: "fay:new", repo: { id: repository.id } },
  });
});

test("OPS-3 the forge refuses the state of a newer release, and says what to do", async () => {
  await forge.stop();
  const file = join(forge.directory, "forge", "forge.sqlite");
  const setVersion = (to?: number) => {
    const state = new DatabaseSync(file);
    const version = Number(state.prepare("PRAGMA user_version").get()?.user_version);
    if (to !== undefined) state.exec(`PRAGMA user_version = ${to}`);
    state.close();
    return version;
  };
  const known = setVersion(99);
  await expect(forge.restart()).rejects.toThrow(
    /newer release of Towpath: .* has version 99, and this release knows version \d+\. Nothing was changed\. Start/,
  );
  expect(setVersion(known)).toBe(99);
  await forge.restart();
});

test("OPS-4 GH-3 the terminal deploys on to what it made before makers were recorded, and to nothing that a person began", async () => {
  await forge.admin.ensureAccount({ login: "hal" });
  const work = await mkdtemp(join(tmpdir(), "towpath-work-"));
  for (const [name, email] of [
    ["by-terminal", "cli@towpath.localhost"],
    ["by-person", "hal@example.com"],
  ] as const) {
    const { pushUrl } = await forge.admin.ensureRepository({ owner: "hal", name });
    const directory = join(work, name);
    await git(work, "init", "-q", "-b", "main", directory);
    for (const author of [email, "ann@example.com"])
      await git(directory, "commit", "-q", "--allow-empty", "-m", "Change", `--author=Somebody <${author}>`);
    await git(directory, "push", "-q", pushUrl, "main");
  }
  await rm(work, { recursive: true });
  await forge.stop();
  const state = new DatabaseSync(join(forge.directory, "forge", "forge.sqlite"));
  state.exec("UPDATE repository SET made_by = NULL WHERE name LIKE 'by-%'");
  state.close();
  await forge.restart();
  for (let call = 0; call < 2; call++) await forge.admin.ensureRepository({ owner: "hal", name: "by-terminal" });
  await expect(forge.admin.ensureRepository({ owner: "hal", name: "by-person" })).rejects.toMatchObject({
    code: "conflict",
  });
});
