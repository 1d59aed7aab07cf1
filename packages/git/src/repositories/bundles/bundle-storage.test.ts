import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, rename, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ArtifactError, type ArtifactStore, openArtifacts } from "@towpath/artifacts";
import { openOrganization } from "@towpath/core/testing";
import { repository, repositoryBundles } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../../../tests/thorough.ts";
import { commitFiles, git, makeRepository } from "../../testing/index.ts";
import { serveStore } from "../../testing/serve-store.ts";
import { outcome, repositoryStorageContract } from "../../testing/storage-contract.ts";
import { openInstanceRepositories } from "../open-instance-repositories.ts";
import { repositoriesIn } from "../repositories.ts";
import { bundleStorage } from "./bundle-storage.ts";

const database = openTestDatabase();
const organization = openOrganization(database);

async function newId(pushedAt: Date | null = null): Promise<string> {
  const id = crypto.randomUUID();
  await database.db
    .insert(repository)
    .values({ id, organizationId: organization.id, name: id, madeBy: "push", pushedAt });
  return id;
}

const storeIn = (dataDirectory: string) => openArtifacts({ db: database.db, dataDirectory, config: null }).store;

/** A machine has a cache and a scratch directory of its own; all share the database and the artifact store. */
const machine = (
  directory: string,
  name: string,
  more: { store?: ArtifactStore; maxBundles?: number; maxRefs?: number } = {},
) =>
  bundleStorage({
    db: database.db,
    store: storeIn(directory),
    ...more,
    cacheDirectory: join(directory, name, "cache"),
    scratchDirectory: join(directory, name, "git"),
  });

repositoryStorageContract("bundles", {
  kind: "bundles",
  get databaseUrl() {
    return database.url;
  },
  open: machine,
  newId: () => newId(),
});

let directory: string;
let closing: (() => Promise<void>)[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-bundles-"));
  closing = [];
});
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
  await rm(directory, { recursive: true, force: true });
});

async function serve(...args: Parameters<typeof machine>): Promise<string> {
  const storage = machine(...args);
  const { url, close } = await serveStore(repositoriesIn(async () => storage));
  closing.push(close);
  return url;
}
const work = (name = "work") => join(directory, name);
const artifacts = () => join(directory, "artifacts", "blobs");
const bundlesOf = async (id: string) => {
  const [row] = await database.db.select().from(repositoryBundles).where(eq(repositoryBundles.repositoryId, id));
  return row?.bundles ?? [];
};

test("SRC-3 a push is confirmed only once its bundle is stored, and refused with a text where it can't be", async () => {
  const store = storeIn(directory);
  let store1: "now" | "later" | "never" | "in an outage" = "now";
  const events: string[] = [];
  const url = await serve(directory, "one", {
    store: {
      ...store,
      async add(bytes) {
        if (store1 === "never") throw new Error("the store is unavailable");
        if (store1 === "in an outage") throw new ArtifactError("unavailable", "10.0.0.1 does not answer.");
        if (store1 === "later") await new Promise((done) => setTimeout(done, 400));
        const digest = await store.add(bytes);
        events.push("stored");
        return digest;
      },
    },
  });
  const id = await newId();
  const first = await makeRepository(work(), { "server.py": "one\n" });
  const push = () => outcome(git(work(), "push", `${url}/${id}.git`, "main"));
  store1 = "later";
  await push().then((answer) => events.push(answer));
  expect(events).toEqual(["stored", "accepted"]);
  store1 = "never";
  await commitFiles(work(), { "server.py": "two\n" });
  expect(await push()).toMatch(/\[remote rejected\] main -> main \(Something went wrong on our side/);
  store1 = "in an outage";
  expect(await push()).toMatch(
    /\[remote rejected\] main -> main \(The store with this instance's repositories can't be/,
  );
  expect((await git(directory, "ls-remote", `${url}/${id}.git`, "main")).slice(0, 40)).toBe(first);
  store1 = "now";
  expect(await push()).toBe("accepted");
});

// That nothing confirmed is lost is in the contract, wherever the process is killed.
test.runIf(isThorough).each(["before", "stored"] as const)(
  "SRC-3 a process that is killed in a push (bundle: %s) leaves the repository as it was",
  async (killAt) => {
    const url = await serve(directory, "one");
    const id = await newId();
    const first = await makeRepository(work(), { "server.py": "one\n" });
    await git(work(), "push", "--quiet", `${url}/${id}.git`, "main");
    const program = fileURLToPath(new URL("../../testing/commit-until-killed.ts", import.meta.url));
    const child = spawn(process.execPath, [program, "bundles", directory, database.url, id, killAt], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let confirmed = "";
    child.stdout.on("data", (text) => {
      confirmed += String(text);
    });
    expect((await once(child, "close"))[1]).toBe("SIGKILL");
    expect(confirmed).toBe("");
    // No row names the stored bundle: the clean-up of artifacts removes it.
    expect(await readdir(artifacts())).toHaveLength(killAt === "stored" ? 2 : 1);
    expect(await bundlesOf(id)).toHaveLength(1);
    const other = await serve(directory, "two");
    await git(directory, "clone", "--quiet", `${other}/${id}.git`, "clone");
    expect(await git(work("clone"), "rev-parse", "HEAD")).toBe(first);
    await commitFiles(work("clone"), { "server.py": "two\n" });
    await git(work("clone"), "push", "--quiet");
  },
);

test("SRC-3 a lost cache is restored; a damaged or missing bundle is named, and other repositories still work", async () => {
  const url = await serve(directory, "one");
  const [id, other] = [await newId(), await newId()];
  const head = await makeRepository(work(), { "server.py": "one\n" });
  await git(work(), "push", "--quiet", `${url}/${id}.git`, "main");
  const [digest = ""] = await bundlesOf(id);
  await commitFiles(work(), { "server.py": "two\n" });
  await git(work(), "push", "--quiet", `${url}/${id}.git`, "main");
  await git(work(), "push", "--quiet", `${url}/${other}.git`, "main");
  await rm(join(directory, "one"), { recursive: true });
  await git(directory, "clone", "--quiet", `${url}/${id}.git`, "clone");
  expect(await git(work("clone"), "rev-parse", "HEAD^")).toBe(head);

  await appendFile(join(artifacts(), digest), "x");
  await rm(join(directory, "one"), { recursive: true });
  const clone = () => outcome(git(directory, "clone", `${url}/${id}.git`, "damaged"));
  expect(await clone()).toMatch(new RegExp(`damaged in the artifact store. Ask the operator to restore .*${digest}`));
  await rm(join(artifacts(), digest));
  expect(await clone()).toContain("is missing in the artifact store");
  expect(await outcome(git(work(), "push", `${url}/${id}.git`, "main:more"))).toContain(
    "is missing in the artifact store",
  );
  await git(directory, "clone", "--quiet", `${url}/${other}.git`, "other");
});

test.runIf(isThorough)(
  "SRC-3 many pushes make few bundles, also while others are made; what nothing leads to is left out",
  async () => {
    const url = await serve(directory, "one", { maxBundles: 8 });
    const storage = machine(directory, "two", { maxBundles: 8 });
    const id = await newId();
    await makeRepository(work(), { "server.py": "0\n" });
    const most: number[] = [];
    for (let count = 1; count <= 20; count += 1) {
      await commitFiles(work(), { "server.py": `${count}\n` });
      const compacting = count % 5 === 0 ? storage.pack(id) : null;
      await git(work(), "push", "--quiet", `${url}/${id}.git`, "main");
      await compacting;
      most.push((await bundlesOf(id)).length);
    }
    expect(Math.max(...most)).toBeLessThanOrEqual(8);
    await storage.pack(id);
    const other = await serve(directory, "three");
    await git(directory, "clone", "--quiet", `${other}/${id}.git`, "clone");
    expect(await git(work("clone"), "rev-list", "--count", "HEAD")).toBe("21");
    await git(work("clone"), "fsck", "--strict");
    const gone = await git(work(), "rev-parse", "HEAD");
    await git(work(), "push", "--quiet", "--force", `${url}/${id}.git`, "main~15:main");
    await git(work(), "push", "--quiet", `${url}/${id}.git`, "main~14:refs/heads/side");
    await storage.pack(id);
    const restored = (await machine(directory, "four").read(id)) ?? "";
    expect([(await bundlesOf(id)).length, await git(restored, "rev-list", "--all", "--count")]).toEqual([1, "7"]);
    expect(await outcome(git(restored, "cat-file", "-e", gone))).not.toBe("accepted");
  },
);

test.runIf(isThorough)(
  "SRC-3 pushes that began in one state are merged if their refs differ, also after packing, and refused if they are the same",
  async () => {
    const [one, two] = [machine(directory, "one", { maxBundles: 8 }), machine(directory, "two", { maxBundles: 8 })];
    const id = await newId();
    const first = await makeRepository(work(), { "server.py": "one\n" });
    const side = await commitFiles(work(), { "server.py": "two\n" });
    const onSide = await commitFiles(work(), { "server.py": "three\n" });
    const begin = async (storage: typeof one, ...refs: readonly string[]) => {
      const change = await storage.change(id, "main");
      closing.push(change.close);
      await git(work(), "push", "--quiet", "--force", change.directory, ...refs);
      return change;
    };
    await (await begin(one, `${first}:refs/heads/main`, `${side}:refs/heads/side`)).store();
    // Its base is gone when it is stored.
    const late = await begin(one, `${onSide}:refs/heads/new`);
    await (await begin(two, ":side")).store();
    await (await begin(two, `${first}:refs/heads/other`, `${first}:refs/heads/fix/a`)).store();
    const another = await git(work(), "commit-tree", "-p", first, "-m", "Another", `${first}^{tree}`);
    await (await begin(two, `${another}:refs/heads/x`)).store();
    await two.pack(id);
    expect(await bundlesOf(id)).toHaveLength(1);
    await late.store();
    const restored = (await machine(directory, "three").read(id)) ?? "";
    await git(restored, "fsck", "--strict");
    const names = await git(restored, "for-each-ref", "--format=%(refname:short)");
    expect(names.split("\n")).toEqual(["fix/a", "main", "new", "other", "x"]);
    expect(await git(restored, "rev-parse", "new")).toBe(onSide);

    const [same, nested] = [await begin(one, `${side}:refs/heads/main`), await begin(one, `${side}:refs/heads/deep`)];
    await (await begin(two, `${onSide}:refs/heads/main`, `${onSide}:refs/heads/deep/er`)).store();
    await expect(same.store()).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining("to main") });
    await expect(nested.store()).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("deep is a"),
    });
    expect(await git((await one.read(id)) ?? "", "rev-parse", "main")).toBe(onSide);

    const removed = await begin(one, `${side}:refs/heads/late`);
    await database.db.delete(repository).where(eq(repository.id, id));
    await expect(removed.store()).rejects.toMatchObject({ code: "not_found" });
    await expect(two.change(id, "main")).rejects.toMatchObject({ code: "not_found" });
  },
);

test.runIf(isThorough)(
  "SRC-3 bundles that are replaced and removed while a machine restores them: it restores the new one",
  async () => {
    const one = machine(directory, "one", { maxBundles: 8 });
    const id = await newId();
    await makeRepository(work(), { "server.py": "one\n" });
    for (const round of [1, 2]) {
      await commitFiles(work(), { "server.py": `${round}\n` });
      const change = await one.change(id, "main");
      await git(work(), "push", "--quiet", change.directory, "main");
      await change.store();
      await change.close();
    }
    const [store, replaced] = [storeIn(directory), await bundlesOf(id)];
    let packing: Promise<void> | null = null;
    const pack = async () => {
      await one.pack(id);
      for (const digest of replaced) await store.delete(digest, { unusedSince: new Date(Date.now() + 60_000) });
    };
    const get = async (digest: string) => {
      packing ??= pack();
      await packing;
      return store.get(digest);
    };
    const restored = (await machine(directory, "two", { store: { ...store, get } }).read(id)) ?? "";
    expect(await git(restored, "rev-parse", "main")).toBe(await git(work(), "rev-parse", "HEAD"));
    expect(await bundlesOf(id)).not.toEqual(replaced);
  },
);

test.runIf(isThorough)(
  "SRC-3 restored repositories that nobody uses for a day are removed from the machine, and restored when asked for",
  async () => {
    const url = await serve(directory, "one");
    const [id, used] = [await newId(), await newId()];
    await makeRepository(work(), { "server.py": "one\n" });
    for (const each of [id, used]) await git(work(), "push", "--quiet", `${url}/${each}.git`, "main");
    // Another process of the machine, which looks for leftovers when it first restores one.
    const storage = machine(directory, "one");
    const [boot = ""] = await readdir(join(directory, "one", "cache"));
    const cache = join(directory, "one", "cache", boot);
    for (const base of await readdir(join(cache, id))) {
      const old = new Date(Date.now() - 25 * 3_600_000);
      await utimes(join(cache, id, base), old, old);
    }
    await commitFiles(work(), { "server.py": "two\n" });
    await git(work(), "push", "--quiet", `${await serve(directory, "two")}/${used}.git`, "main");
    await storage.read(used);
    expect(await readdir(cache)).toEqual([used]);
    expect(await storage.read(id)).toContain(id);
    // After a power cut, files that were written last may be empty.
    await rename(cache, join(directory, "one", "cache", "boot-before"));
    const restored = (await machine(directory, "one").read(id)) ?? "";
    expect(await git(restored, "show", "main:server.py")).toBe("one");
    expect(await readdir(join(directory, "one", "cache"))).toEqual([boot]);
  },
);

test.runIf(isThorough)(
  "SRC-3 repositories move to the artifact store and back when the setting changes; none is read as empty meanwhile",
  async () => {
    const store = storeIn(directory);
    const problems: unknown[] = [];
    const open = (kind: "directory" | "bundles", dataDirectory = join(directory, "data")) =>
      openInstanceRepositories({
        kind,
        dataDirectory,
        db: database.db,
        store,
        onProblem: (error) => problems.push(error),
      });
    const [id, twice] = [await newId(new Date()), await newId(new Date())];
    const head = await makeRepository(work(), { "server.py": "one\n" });
    const stored = (of: string) => join(directory, "data", "repositories", `${of}.git`);
    for (const each of [id, twice]) {
      await open("directory").create(each, "main");
      await git(work(), "push", "--quiet", stored(each), "main", "main:side");
    }
    const elsewhere = open("bundles", join(directory, "elsewhere"));
    await expect(elsewhere.commitFiles(id, { branch: "main" } as never)).rejects.toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining("not in the artifact store yet"),
    });
    await expect(elsewhere.open(id).refs()).rejects.toMatchObject({ code: "upstream_unavailable" });
    const [one, same] = [open("bundles"), open("bundles")];
    const read = async (repositories: typeof one, of = id) => (await repositories.open(of).refs()).branches.get("side");
    expect(await Promise.all([read(one), read(same)])).toEqual([head, head]);
    expect([await read(elsewhere), await readdir(join(directory, "data", "repositories"))]).toEqual([head, []]);

    await git(directory, "clone", "--quiet", "--mirror", work(), stored(twice));
    await commitFiles(work(), { "server.py": "two\n" });
    await git(work(), "push", "--quiet", stored(twice), "main");
    const again = open("bundles");
    await expect(read(again, twice)).rejects.toThrow("is stored twice");
    expect(await read(again)).toBe(head);
    await rm(stored(twice), { recursive: true });

    const back = open("directory");
    expect([await read(back), await read(back, twice)]).toEqual([head, head]);
    await rm(join(directory, "data", "cache"), { recursive: true });
    await git(directory, "clone", "--quiet", stored(id), "clone");
    await git(work("clone"), "fsck", "--strict");
    expect([await bundlesOf(id), problems]).toEqual([[], []]);
  },
);

test.runIf(isThorough)(
  "SRC-3 a push beyond the most branches and tags is refused whole; deleting some makes room",
  async () => {
    const [id, url] = [await newId(), await serve(directory, "one", { maxRefs: 4 })];
    await makeRepository(work(), { "server.py": "one" });
    const push = (...refs: readonly string[]) => outcome(git(work(), "push", `${url}/${id}.git`, ...refs));
    expect(await push("main", "HEAD:refs/heads/a", "HEAD:refs/tags/b", "HEAD:refs/other/c")).toBe("accepted");
    expect(await push("HEAD:refs/heads/d")).toMatch(/rejected.*at most 4 branches and tags/);
    expect(await push(":refs/other/c")).toBe("accepted");
    expect(await push("HEAD:refs/heads/d")).toBe("accepted");
  },
);
