import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isThorough } from "../../../../tests/thorough.ts";
import { type Repositories, repositoriesIn } from "../repositories/repositories.ts";
import type { RepositoryStorage } from "../repositories/storage.ts";
import { commitFiles, git, makeRepository, makeZip, streamOf } from "./index.ts";
import { serveStore } from "./serve-store.ts";

export type StoragePlace = {
  /** Which of them processes open that are killed. */
  readonly kind: "directory" | "bundles";
  readonly databaseUrl: string;
  /** Opens it like another machine or process. */
  open(directory: string, name: string): RepositoryStorage;
  /** Id of a repository that may be stored. */
  newId(): Promise<string>;
};

const program = fileURLToPath(new URL("./commit-until-killed.ts", import.meta.url));
const author = { name: "Ada", email: "ada@example.test" };
export const outcome = (pushed: Promise<string>) =>
  pushed.then(
    () => "accepted",
    (error: { stderr?: string }) => error.stderr ?? String(error),
  );

/** The contract of every storage of repositories. */
export function repositoryStorageContract(title: string, place: StoragePlace): void {
  describe(`repository storage contract: ${title}`, () => {
    let directory: string;
    let storages: readonly [RepositoryStorage, RepositoryStorage];
    let stores: readonly [Repositories, Repositories];
    let served: readonly [{ url: string; close(): Promise<void> }, { url: string; close(): Promise<void> }];
    let count = 0;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "towpath-storage-"));
      const [one, two] = [place.open(directory, "one"), place.open(directory, "two")];
      storages = [one, two];
      stores = [repositoriesIn(async () => one), repositoriesIn(async () => two)];
      served = [await serveStore(stores[0]), await serveStore(stores[1])];
    });
    afterAll(async () => {
      await Promise.all(served.map(({ close }) => close()));
      await rm(directory, { recursive: true, force: true });
    });
    const newWork = () => {
      count += 1;
      return join(directory, `work-${count}`);
    };
    const urlOf = (machine: 0 | 1, id: string) => `${served[machine].url}/${id}.git`;
    const clone = async (machine: 0 | 1, id: string) => {
      const work = newWork();
      await git(directory, "clone", "--quiet", urlOf(machine, id), work);
      return work;
    };
    /** A repository with one commit, pushed to the first machine. */
    const pushed = async () => {
      const [id, work] = [await place.newId(), newWork()];
      const head = await makeRepository(work, { "server.py": "one\n" });
      await git(work, "remote", "add", "origin", urlOf(0, id));
      await git(work, "push", "--quiet", "-u", "origin", "main");
      return { id, work, head };
    };
    const refsAt = async (machine: 0 | 1, id: string) =>
      (await git(directory, "ls-remote", urlOf(machine, id))).split("\n").map((line) => line.split("\t").toReversed());
    const commitTo = (machine: 0 | 1, id: string, content: string, expectedHead?: string | null) =>
      stores[machine].commitFiles(id, {
        branch: "main",
        author,
        message: content,
        archive: streamOf(makeZip([{ name: "a", content }])),
        ...(expectedHead !== undefined && { expectedHead }),
      });

    test.runIf(isThorough)(
      "SRC-3 what is pushed to one machine is cloned from another at once: branches, tags, other refs, HEAD",
      async () => {
        const { id, work, head } = await pushed();
        await git(work, "tag", "v1");
        await git(work, "tag", "--annotate", "-m", "Two", "v2");
        await git(work, "push", "--quiet", "origin", "HEAD:refs/heads/fix/a", "HEAD:refs/notes/mine", "v1");
        // Nothing new but the tag's object.
        await git(work, "push", "--quiet", "origin", "v2");
        const tag = await git(work, "rev-parse", "v2");
        const expected = [
          ["HEAD", head],
          ["refs/heads/fix/a", head],
          ["refs/heads/main", head],
          ["refs/notes/mine", head],
          ["refs/tags/v1", head],
          ["refs/tags/v2", tag],
          ["refs/tags/v2^{}", head],
        ];
        for (const machine of [1, 0] as const) expect(await refsAt(machine, id)).toEqual(expected);
        const other = await clone(1, id);
        const second = await commitFiles(other, { "server.py": "two\n" });
        await git(other, "push", "--quiet");
        await git(work, "pull", "--quiet");
        expect(await git(work, "rev-parse", "HEAD")).toBe(second);
        await stores[0].setDefaultBranch(id, "fix/a");
        expect(await stores[1].open(id).refs()).toMatchObject({ defaultBranch: "fix/a" });
        const [reader, at] = [stores[1].open(id), { branch: "main", sha: second }];
        const checkout = await reader.checkout(at);
        expect([await checkout.paths(), await checkout.read("server.py")]).toEqual([["server.py"], "two\n"]);
        await checkout.close();
        expect(await reader.changedPaths(head, at)).toEqual(["server.py"]);
        const tarball = await reader.tarball(at, { warn: () => {}, signal: AbortSignal.timeout(30_000) });
        expect(gunzipSync(await buffer(tarball)).toString()).toContain("two\n");
      },
    );

    test.runIf(isThorough)(
      "SRC-3 a forced push, a deleted branch and one that is made of an older commit are seen by the other machine",
      async () => {
        const { id, work, head } = await pushed();
        const second = await commitFiles(work, { "server.py": "two\n" });
        await git(work, "push", "--quiet", "origin", "main", "main:side");
        await git(work, "commit", "--quiet", "--amend", "--message", "Rewritten");
        expect(await outcome(git(work, "push", urlOf(1, id), "main"))).toMatch(/non-fast-forward|rejected/);
        const rewritten = await git(work, "rev-parse", "HEAD");
        await git(work, "push", "--quiet", "--force", urlOf(1, id), "main", ":side", `${head}:refs/heads/old`);
        const refs = [
          ["HEAD", rewritten],
          ["refs/heads/main", rewritten],
          ["refs/heads/old", head],
        ];
        expect(await refsAt(0, id)).toEqual(refs);
        // Unreachable commits can be pushed again.
        await git(work, "push", "--quiet", urlOf(0, id), `${second}:refs/heads/side`);
        await git(await clone(1, id), "checkout", "--quiet", "side");
        await git(work, "push", "--quiet", urlOf(0, id), ":old", ":side");
        expect(await refsAt(1, id)).toEqual(refs.slice(0, 2));
      },
    );

    // Harder is the same with one branch, below.
    test.runIf(isThorough)(
      "SRC-3 pushes to different branches at once, to two machines, are all stored",
      async () => {
        const { id } = await pushed();
        const works = await Promise.all([0, 1, 0, 1].map((machine) => clone(machine as 0 | 1, id)));
        const heads = await Promise.all(works.map((work, at) => commitFiles(work, { [`${at}.py`]: `${at}\n` })));
        await Promise.all(works.map((work, at) => git(work, "push", "--quiet", "origin", `HEAD:refs/heads/b/${at}`)));
        const branches = (await stores[1].open(id).refs()).branches;
        expect(heads.map((_, at) => branches.get(`b/${at}`))).toEqual(heads);
        await git(await clone(0, id), "fsck", "--strict");
      },
      60_000,
    );

    const pushRounds = isThorough ? [1, 2] : [1];
    test("SRC-3 of pushes to one branch at once, to two machines, one is stored, and the others are refused and lose nothing", async () => {
      const { id } = await pushed();
      const works = await Promise.all([0, 1, 0, 1].map((machine) => clone(machine as 0 | 1, id)));
      const refused: string[] = [];
      const commits = await Promise.all(
        works.map(async (work, at) => {
          for (const round of pushRounds) {
            await commitFiles(work, { [`${at}-${round}.py`]: "x\n" }, `Commit ${at} ${round}`);
            for (let answer = ""; answer !== "accepted"; ) {
              answer = await outcome(git(work, "push", "origin", "HEAD:main"));
              if (answer === "accepted") break;
              refused.push(answer);
              await git(work, "pull", "--quiet", "--rebase", "origin", "main");
            }
          }
        }),
      );
      expect(commits).toHaveLength(4);
      for (const answer of refused) expect(answer).toMatch(/rejected|failed to push/);
      const log = (await git(await clone(1, id), "log", "--format=%s")).split("\n");
      const all = [0, 1, 2, 3].flatMap((at) => pushRounds.map((round) => `Commit ${at} ${round}`));
      expect(log.toSorted()).toEqual([...all, "First"].toSorted());
    }, 120_000);

    test.runIf(isThorough)(
      "SRC-3 SRC-4 uploads to two machines at once: each becomes a commit, or is refused for another head",
      async () => {
        const id = await place.newId();
        const { commit: first } = await commitTo(0, id, "first", null);
        const both = await Promise.allSettled([
          commitTo(0, id, "left", first.sha),
          commitTo(1, id, "right", first.sha),
        ]);
        const won = both.flatMap((each) => (each.status === "fulfilled" ? [each.value.commit.sha] : []));
        expect(won).toHaveLength(1);
        expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
        expect((await stores[0].open(id).refs()).branches.get("main")).toBe(won[0]);
        await expect(commitTo(1, id, "third", first.sha)).rejects.toMatchObject({ code: "conflict" });
      },
    );

    test("SRC-3 what was confirmed before a process was killed is stored, and what was not is whole or absent", async () => {
      const id = await place.newId();
      const confirmed: string[] = [];
      for (const round of [0, 1]) {
        const args = [program, place.kind, directory, place.databaseUrl, id];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
        let output = "";
        child.stdout.on("data", (text: Buffer) => {
          output += String(text);
        });
        const closed = once(child, "close");
        await once(child.stdout, "data");
        await sleep(Math.random() * 300);
        child.kill("SIGKILL");
        expect((await closed)[1]).toBe("SIGKILL");
        confirmed.push(...output.split("\n").slice(0, -1));
        // Commits continue on either machine.
        confirmed.push((await commitTo(round % 2 === 0 ? 0 : 1, id, `after ${round}`)).commit.sha);
      }
      const work = await clone(1, id);
      const log = (await git(work, "log", "--format=%H")).split("\n");
      expect(confirmed.filter((sha) => !log.includes(sha))).toEqual([]);
      await git(work, "fsck", "--strict");
    }, 120_000);

    test.runIf(isThorough)(
      "SRC-3 one that is packed reads as before; one that is removed is gone on all machines",
      async () => {
        const { id, head } = await pushed();
        for (const round of [1, 2, 3]) await commitTo(1, id, `round ${round}`);
        const before = await refsAt(1, id);
        await storages[0].pack(id, 1);
        expect([await refsAt(0, id), await refsAt(1, id)]).toEqual([before, before]);
        expect(await git(await clone(1, id), "rev-list", "--max-parents=0", "HEAD")).toBe(head);
        expect(await storages[1].list()).toContain(id);
        await storages[0].remove(id);
        await storages[1].remove(id);
        expect([await storages[0].read(id), await storages[1].read(id)]).toEqual([null, null]);
        expect((await stores[1].open(id).refs()).branches.size).toBe(0);
        expect(await storages[0].list()).not.toContain(id);
      },
    );

    test("SRC-3 a repository that is somewhere else is adopted, once", async () => {
      const { work, head } = await pushed();
      const id = await place.newId();
      expect(await storages[0].adopt(id, join(work, ".git"))).toBe(true);
      expect((await stores[1].open(id).refs()).branches).toEqual(new Map([["main", head]]));
      await commitFiles(work, { "server.py": "two\n" });
      expect(await storages[1].adopt(id, join(work, ".git"))).toBe(false);
      expect((await stores[1].open(id).refs()).branches.get("main")).toBe(head);
    });
  });
}
