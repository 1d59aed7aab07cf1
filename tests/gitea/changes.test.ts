import { afterAll, expect, inject, test } from "vitest";
import { endToken, gitea, newRepository, newToken, type Repository, removeClones, serverFiles } from "./repository.ts";
import { buildsOf, changeSource, checkNow, deployLive, expectVersion, sourceOf, versionOf } from "./server.ts";

afterAll(removeClones);

const host = () => new URL(inject("giteaUrl")).host;

/** The check finds this problem, and the live version stays. */
async function expectProblem(name: string, message: RegExp): Promise<void> {
  expect((await checkNow(name)).problem).toMatchObject({ message: expect.stringMatching(message) });
  expect(await versionOf(name)).toBe("one");
}

async function expectBuilt(name: string, repository: Repository, version: string): Promise<void> {
  const sha = await repository.push(serverFiles(version), `Version ${version}`);
  expect((await checkNow(name)).problem).toBeNull();
  await expect.poll(async () => (await buildsOf(name))[0]?.commitSha, { timeout: 30_000 }).toBe(sha);
  await expectVersion(name, version);
}

test("SRC-2 a repository of a real Gitea that is made private asks for a token, and is followed with one", async () => {
  const repository = await newRepository("hidden");
  await deployLive(repository.cloneUrl, "gitea-hidden");
  await repository.api("PATCH", "", { private: true });
  await expectProblem("gitea-hidden", /no longer shows this repository: it was made private.*add a token/);
  const { id, token } = await newToken("read:repository");
  await changeSource("gitea-hidden", { credential: { kind: "token", token } });
  expect((await checkNow("gitea-hidden")).problem).toBeNull();
  // Then the token is revoked.
  await endToken(id);
  await expectProblem("gitea-hidden", /refuses the token: it has expired, was revoked/);
  await changeSource("gitea-hidden", {
    credential: { kind: "token", token: (await newToken("read:repository")).token },
  });
  await expectBuilt("gitea-hidden", repository, "two");
});

test("SRC-2 a repository of a real Gitea that is renamed or transferred is followed to its new place, states of builds too", async () => {
  const repository = await newRepository("old-name");
  await deployLive(repository.cloneUrl, "gitea-renamed");
  const { token } = await newToken("write:repository");
  await changeSource("gitea-renamed", { status: { kind: "gitea", token } });
  await repository.api("PATCH", "", { name: "new-name" });
  expect(await checkNow("gitea-renamed")).toMatchObject({
    url: expect.stringMatching(/\/ada\/new-name(\.git)?$/),
    problem: null,
  });
  const url = new URL(repository.cloneUrl.replace("old-name", "new-name"));
  const owner = inject("giteaOwner");
  [url.username, url.password] = [owner.name, owner.password];
  await repository.git("remote", "set-url", "origin", url.href);
  await expectBuilt("gitea-renamed", repository, "two");
  const sha = await repository.git("rev-parse", "HEAD");
  const state = async () =>
    (await gitea<{ readonly state: string }>("GET", `repos/ada/new-name/commits/${sha}/status`)).state;
  await expect.poll(state, { timeout: 15_000 }).toBe("success");
  expect((await sourceOf("gitea-renamed")).status).toMatchObject({ problem: null });

  await gitea("POST", "orgs", { username: "harbour" });
  await gitea("POST", "repos/ada/new-name/transfer", { new_owner: "harbour" });
  expect(await checkNow("gitea-renamed")).toMatchObject({
    url: expect.stringMatching(/\/harbour\/new-name(\.git)?$/),
    problem: null,
  });
  expect(await versionOf("gitea-renamed")).toBe("two");
});

test("SRC-2 a branch that is gone at a real Gitea, another default branch, an archived and a deleted repository say so", async () => {
  const repository = await newRepository("changing");
  await deployLive(repository.cloneUrl, "gitea-changing");
  await repository.git("checkout", "--quiet", "-b", "stable");
  await repository.push(serverFiles("stable"));
  await changeSource("gitea-changing", { branch: "main" });
  await repository.api("PATCH", "", { default_branch: "stable" });
  await repository.git("push", "--quiet", "origin", "--delete", "main");
  await expectProblem("gitea-changing", /no branch main any more\. What is live stays/);
  await changeSource("gitea-changing", { branch: null });
  await expectVersion("gitea-changing", "stable");

  // An archived repository can be read, but accepts no states of builds, which the settings show.
  const { token } = await newToken("write:repository");
  await changeSource("gitea-changing", { status: { kind: "gitea", token } });
  await repository.api("PATCH", "", { archived: true });
  expect((await checkNow("gitea-changing")).problem).toBeNull();

  await gitea("DELETE", "repos/ada/changing");
  expect((await checkNow("gitea-changing")).problem?.message).toMatch(
    new RegExp(`^${host()} (no longer shows this repository|shows no repository)`),
  );
  expect(await versionOf("gitea-changing")).toBe("stable");
});
