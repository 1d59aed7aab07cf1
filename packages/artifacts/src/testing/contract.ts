import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { type ArtifactStoreConfig, createArtifactStore } from "../artifact-store.ts";
import type { ArtifactStore, BlobStore } from "../port.ts";

const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const name = () => digestOf(randomBytes(8));
const chunked = (bytes: Buffer) => Readable.from([bytes.subarray(0, 10), bytes.subarray(10)]);
const future = () => new Date(Date.now() + 60_000);
const past = () => new Date(Date.now() - 60_000);

type Bench = {
  readonly store: ArtifactStore;
  readonly blobs: BlobStore;
  /** Another process's store, whose blobs may behave differently. */
  other(blobs: Partial<BlobStore>): ArtifactStore;
  /** Stores random bytes. */
  stored(size?: number): Promise<{ bytes: Buffer; digest: string }>;
};

/** The contract of every artifact store, for each kind of storage. `openPlace` opens an empty one. */
export function artifactStoreContract(
  title: string,
  openPlace: () => Promise<Pick<ArtifactStoreConfig, "blobs" | "incoming">>,
): void {
  describe(`artifact store contract: ${title}`, () => {
    const database = openTestDatabase();
    let bench: Bench;
    beforeAll(async () => {
      const { blobs, incoming } = await openPlace();
      const open = (of: BlobStore) => createArtifactStore({ db: database.db, blobs: of, incoming });
      const store = open(blobs);
      bench = {
        store,
        blobs,
        other: (changed) => open({ ...blobs, ...changed }),
        async stored(size = 100_000) {
          const bytes = randomBytes(size);
          return { bytes, digest: await store.add(chunked(bytes)) };
        },
      };
    });
    bytesTests(() => bench);
    tagTests(() => bench);
    deleteTests(() => bench);
    concurrencyTests(() => bench);
  });
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const read = async (store: ArtifactStore, digest: string) => Buffer.concat(await all(await store.get(digest)));

function bytesTests(bench: () => Bench): void {
  test("BLD-1 bytes come back as they were added, also when they are added twice or by many at once", async () => {
    const { store } = bench();
    const bytes = randomBytes(300_000);
    const digests = await Promise.all(Array.from({ length: 8 }, () => store.add(chunked(bytes))));
    expect(new Set([...digests, await store.add(chunked(bytes))])).toEqual(new Set([digestOf(bytes)]));
    expect((await read(store, digestOf(bytes))).equals(bytes)).toBe(true);
  });

  test("what is not there is not found", async () => {
    const { store } = bench();
    const { digest } = await bench().stored();
    const unknown = name();
    expect(await store.missing([digest, unknown])).toEqual(new Set([unknown]));
    await expect(store.get(unknown)).rejects.toMatchObject({ code: "not_found" });
    expect(await store.resolve(name())).toBeNull();
    const tag = name();
    await expect(store.tag(tag, unknown)).rejects.toMatchObject({ code: "not_found" });
    expect(await store.resolve(tag)).toBeNull();
    expect(await store.delete(unknown, { unusedSince: future() })).toBe(true);
  });

  test("a name that is no digest is refused: it could be a path", async () => {
    const { store, blobs } = bench();
    await expect(store.get("../x")).rejects.toThrow();
    await expect(store.resolve("../x")).rejects.toThrow();
    for (const use of [blobs.has, blobs.delete]) await expect(async () => use("../../etc/passwd")).rejects.toThrow();
  });

  test("BLD-1 bytes that break off leave nothing", async () => {
    const { store, blobs } = bench();
    const before = await all(blobs.list());
    const broken = async function* () {
      yield randomBytes(500);
      throw new Error("the packing broke");
    };
    await expect(store.add(broken())).rejects.toThrow("the packing broke");
    expect((await all(blobs.list())).toSorted()).toEqual(before.toSorted());
    expect(await store.removeIncomplete(-1000)).toBe(0);
  });

  test("BLD-1 a reader of damaged bytes learns of it at their end", async () => {
    const { digest, bytes } = await bench().stored();
    const changed = bench().other({
      get: async () => Readable.from([bytes.subarray(0, 50), Buffer.from("x"), bytes.subarray(51)]),
    });
    await expect(read(changed, digest)).rejects.toMatchObject({ code: "digest_mismatch" });
    const cut = bench().other({ get: async () => Readable.from([bytes.subarray(0, -20)]) });
    await expect(read(cut, digest)).rejects.toMatchObject({ code: "digest_mismatch" });
  });
}

function tagTests(bench: () => Bench): void {
  test("a tag leads to the artifact that got it first, until that is deleted", async () => {
    const { store, stored } = bench();
    const [first, second] = [await stored(), await stored()];
    const [tag, other] = [name(), name()];
    expect(await store.tag(tag, first.digest)).toBe(first.digest);
    await store.tag(other, first.digest);
    expect(await store.tag(tag, second.digest)).toBe(first.digest);
    expect(await store.resolve(tag)).toBe(first.digest);
    expect(await store.delete(first.digest, { unusedSince: future() })).toBe(true);
    expect([await store.resolve(tag), await store.resolve(other)]).toEqual([null, null]);
    expect(await store.tag(tag, second.digest)).toBe(second.digest);
    expect(await store.resolve(tag)).toBe(second.digest);
    // It was never its tag.
    expect(await store.delete(first.digest, { unusedSince: future() })).toBe(true);
    expect(await store.resolve(tag)).toBe(second.digest);
  });

  test("of many that tag at the same time one is the first for all of them", async () => {
    const { store, stored } = bench();
    const [tag, artifacts] = [name(), await Promise.all(Array.from({ length: 5 }, () => stored(100)))];
    const found = await Promise.all(artifacts.map(({ digest }) => store.tag(tag, digest)));
    expect(new Set(found).size).toBe(1);
    expect(await store.resolve(tag)).toBe(found[0]);
  });

  test("RUN-8 a tag whose bytes were lost goes to the artifact that is made in its place", async () => {
    const { store, blobs, stored } = bench();
    const [lost, made] = [await stored(), await stored()];
    const tag = name();
    await store.tag(tag, lost.digest);
    await blobs.delete(lost.digest);
    expect(await store.missing([lost.digest])).toEqual(new Set([lost.digest]));
    expect(await store.resolve(tag)).toBeNull();
    expect(await store.tag(tag, made.digest)).toBe(made.digest);
    await store.add(chunked(lost.bytes));
    expect((await read(store, lost.digest)).equals(lost.bytes)).toBe(true);
  });
}

function deleteTests(bench: () => Bench): void {
  test("delete removes the bytes and the tags, can be repeated, and the same bytes can be added again", async () => {
    const { store, stored } = bench();
    const { bytes, digest } = await stored();
    const tag = name();
    await store.tag(tag, digest);
    expect(await store.delete(digest, { unusedSince: future() })).toBe(true);
    expect(await store.delete(digest, { unusedSince: future() })).toBe(true);
    expect(await store.has(digest)).toBe(false);
    expect(await store.resolve(tag)).toBeNull();
    expect(await store.add(chunked(bytes))).toBe(digest);
    expect(await store.has(digest)).toBe(true);
    // The old tag was deleted with it and does not come back.
    expect(await store.resolve(tag)).toBeNull();
  });

  test("BLD-1 what was used since stays: a build that is under way may have resolved it", async () => {
    const { store, stored } = bench();
    const { bytes, digest } = await stored();
    const tag = name();
    await store.tag(tag, digest);
    const uses = [() => store.resolve(tag), () => store.add(chunked(bytes)), () => store.tag(tag, digest)];
    expect(await store.delete(digest, { unusedSince: past() })).toBe(false);
    expect(await store.unusedSince(past())).not.toContain(digest);
    for (const use of uses) {
      await sleep(20);
      const before = new Date();
      expect(await store.unusedSince(before)).toContain(digest);
      await sleep(20);
      await use();
      expect(await store.delete(digest, { unusedSince: before })).toBe(false);
      expect(await store.unusedSince(before)).not.toContain(digest);
    }
    expect(await store.resolve(tag)).toBe(digest);
  });

  test("a reader that has begun reads to the end although the artifact is deleted", async () => {
    const { store, stored } = bench();
    const { bytes, digest } = await stored(2_000_000);
    const reading = await store.get(digest);
    await store.delete(digest, { unusedSince: future() });
    expect(Buffer.concat(await all(reading)).equals(bytes)).toBe(true);
  });
}

/** A call that waits in the middle: `reached` when it does, until `go`. */
function paused<Args extends unknown[]>(call: (...args: Args) => Promise<void>) {
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const waiting = async (...args: Args) => {
    reached.resolve();
    await go.promise;
    await call(...args);
  };
  return { call: waiting, reached: reached.promise, go: go.resolve };
}

const untilLater = async (pending: Promise<unknown>) =>
  Promise.race([pending.then(() => "done"), sleep(150).then(() => "waits")]);

function concurrencyTests(bench: () => Bench): void {
  test("BLD-1 who resolves or adds an artifact while it is deleted waits, and finds that it is gone", async () => {
    const { store, blobs, other, stored } = bench();
    const { bytes, digest } = await stored();
    const tag = name();
    await store.tag(tag, digest);
    const removal = paused(blobs.delete);
    const deleting = other({ delete: removal.call }).delete(digest, { unusedSince: future() });
    await removal.reached;
    const [resolving, adding] = [store.resolve(tag), store.add(chunked(bytes))];
    expect(await Promise.all([untilLater(resolving), untilLater(adding)])).toEqual(["waits", "waits"]);
    removal.go();
    expect([await deleting, await resolving, await adding]).toEqual([true, null, digest]);
    expect((await read(store, digest)).equals(bytes)).toBe(true);
  });

  test("BLD-1 an artifact that is being stored again is not deleted", async () => {
    const { store, blobs, other, stored } = bench();
    const { bytes, digest } = await stored();
    await sleep(20);
    const unusedSince = new Date();
    await sleep(20);
    const storing = paused(blobs.put);
    const adding = other({ put: storing.call }).add(chunked(bytes));
    await storing.reached;
    expect(await store.delete(digest, { unusedSince })).toBe(false);
    storing.go();
    expect(await adding).toBe(digest);
    expect((await read(store, digest)).equals(bytes)).toBe(true);
  });

  test("BLD-1 after a delete that was interrupted once the bytes were gone, the artifact can be added again", async () => {
    const { store, blobs, other, stored } = bench();
    const { bytes, digest } = await stored();
    const tag = name();
    await store.tag(tag, digest);
    const interrupted = other({
      async delete(each) {
        await blobs.delete(each);
        throw new Error("the process ended");
      },
    });
    await expect(interrupted.delete(digest, { unusedSince: future() })).rejects.toThrow("the process ended");
    expect(await store.resolve(tag)).toBeNull();
    expect(await store.add(chunked(bytes))).toBe(digest);
    expect(await store.tag(tag, digest)).toBe(digest);
    expect(await store.delete(digest, { unusedSince: future() })).toBe(true);
    expect(await store.has(digest)).toBe(false);
  });

  test("BLD-1 resolving and deleting at the same time: a resolved artifact is there", async () => {
    const { store, stored } = bench();
    for (let round = 0; round < 20; round += 1) {
      const { digest } = await stored(1000);
      const tag = name();
      await store.tag(tag, digest);
      await sleep(5);
      const unusedSince = new Date();
      await sleep(2);
      const [found, gone] = await Promise.all([store.resolve(tag), store.delete(digest, { unusedSince })]);
      if (found !== null) expect([gone, await store.has(digest)]).toEqual([false, true]);
    }
  });
}
