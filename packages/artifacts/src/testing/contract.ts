import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { ArtifactInfo, ArtifactStore } from "../port.ts";

const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const name = () => digestOf(randomBytes(8));
const chunked = (bytes: Buffer) => Readable.from([bytes.subarray(0, 10), bytes.subarray(10)]);
const future = () => new Date(Date.now() + 60_000);
const past = () => new Date(Date.now() - 60_000);

/** What every artifact store promises. `openStore` opens an empty one. */
export function artifactStoreContract(title: string, openStore: () => Promise<ArtifactStore>): void {
  describe(`artifact store contract: ${title}`, () => {
    let store: ArtifactStore;
    beforeAll(async () => {
      store = await openStore();
    });
    const stored = async (size = 100_000) => {
      const bytes = randomBytes(size);
      const digest = digestOf(bytes);
      await store.put(digest, chunked(bytes));
      return { bytes, digest };
    };
    const listed = async (digest: string): Promise<ArtifactInfo | null> => {
      for await (const each of store.list()) if (each.digest === digest) return each;
      return null;
    };
    bytesTests(() => store, stored, listed);
    deleteTests(() => store, stored, listed);
  });
}

type Stored = (size?: number) => Promise<{ bytes: Buffer; digest: string }>;
type Listed = (digest: string) => Promise<ArtifactInfo | null>;

function bytesTests(store: () => ArtifactStore, stored: Stored, listed: Listed): void {
  test("bytes come back as they were put, and are listed with size and last use", async () => {
    const { bytes, digest } = await stored(300_000);
    expect(await store().has(digest)).toBe(true);
    expect((await buffer(await store().get(digest))).equals(bytes)).toBe(true);
    const found = await listed(digest);
    expect(found?.bytes).toBe(300_000);
    expect(Math.abs((found?.lastUsedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test("what is not there is not found", async () => {
    const digest = name();
    expect(await store().has(digest)).toBe(false);
    await expect(store().get(digest)).rejects.toMatchObject({ code: "not_found" });
    expect(await store().resolve(name())).toBeNull();
    await expect(store().tag(name(), digest)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a name that is no digest is refused: it could be a path", async () => {
    await expect(async () => store().put("../../etc/passwd", Readable.from([]))).rejects.toThrow();
    await expect(async () => store().get("../x")).rejects.toThrow();
  });

  test("BLD-1 bytes with another digest are refused, and bytes that break off leave nothing", async () => {
    const bytes = randomBytes(1000);
    const other = digestOf(Buffer.from("other"));
    await expect(store().put(other, chunked(bytes))).rejects.toMatchObject({ code: "digest_mismatch" });
    await expect(store().put(digestOf(bytes), chunked(bytes.subarray(0, 500)))).rejects.toMatchObject({
      code: "digest_mismatch",
    });
    const broken = Readable.from(
      (async function* () {
        yield bytes.subarray(0, 500);
        throw new Error("the connection broke");
      })(),
    );
    await expect(store().put(digestOf(bytes), broken)).rejects.toThrow("the connection broke");
    for (const digest of [other, digestOf(bytes)]) {
      expect(await store().has(digest)).toBe(false);
      expect(await listed(digest)).toBeNull();
    }
  });

  test("BLD-1 bytes that are added get their digest as name, also twice, and those that break off leave nothing", async () => {
    const bytes = randomBytes(1000);
    expect(await Promise.all([store().add(chunked(bytes)), store().add(chunked(bytes))])).toEqual(
      Array(2).fill(digestOf(bytes)),
    );
    expect((await buffer(await store().get(digestOf(bytes)))).equals(bytes)).toBe(true);
    const broken = async function* () {
      yield randomBytes(500);
      throw new Error("the packing broke");
    };
    const digests = async () => {
      const found: string[] = [];
      for await (const { digest } of store().list()) found.push(digest);
      return found;
    };
    const before = await digests();
    await expect(store().add(broken())).rejects.toThrow("the packing broke");
    expect(await digests()).toEqual(before);
  });

  test("many puts of the same bytes at once all succeed", async () => {
    const bytes = randomBytes(200_000);
    const digest = digestOf(bytes);
    await Promise.all(Array.from({ length: 8 }, () => store().put(digest, chunked(bytes))));
    expect((await buffer(await store().get(digest))).equals(bytes)).toBe(true);
  });

  test("a tag leads to the artifact that got it first, until that is deleted", async () => {
    const [first, second] = [await stored(), await stored()];
    const [tag, other] = [name(), name()];
    expect(await store().tag(tag, first.digest)).toBe(first.digest);
    await store().tag(other, first.digest);
    expect(await store().tag(tag, second.digest)).toBe(first.digest);
    expect(await store().resolve(tag)).toBe(first.digest);
    expect(await store().delete(first.digest, { unusedSince: future() })).toBe(true);
    expect([await store().resolve(tag), await store().resolve(other)]).toEqual([null, null]);
    expect(await store().tag(tag, second.digest)).toBe(second.digest);
    expect(await store().resolve(tag)).toBe(second.digest);
    // It was never its tag.
    expect(await store().delete(first.digest, { unusedSince: future() })).toBe(true);
    expect(await store().resolve(tag)).toBe(second.digest);
  });
}

function deleteTests(store: () => ArtifactStore, stored: Stored, listed: Listed): void {
  test("delete removes the bytes and the tags, can be repeated, and the same bytes can be put again", async () => {
    const { bytes, digest } = await stored();
    const tag = name();
    await store().tag(tag, digest);
    expect(await store().delete(digest, { unusedSince: future() })).toBe(true);
    expect(await store().delete(digest, { unusedSince: future() })).toBe(true);
    expect(await store().has(digest)).toBe(false);
    expect(await listed(digest)).toBeNull();
    expect(await store().resolve(tag)).toBeNull();
    await store().put(digest, chunked(bytes));
    expect(await store().has(digest)).toBe(true);
    // The old tag was deleted with it and does not come back.
    expect(await store().resolve(tag)).toBeNull();
  });

  test("BLD-1 what was used since stays: a build that is under way may have resolved it", async () => {
    const { bytes, digest } = await stored();
    const tag = name();
    await store().tag(tag, digest);
    expect(await store().delete(digest, { unusedSince: past() })).toBe(false);
    const before = new Date();
    await sleep(20);
    await store().resolve(tag);
    expect(await store().delete(digest, { unusedSince: before })).toBe(false);
    await sleep(20);
    const later = new Date();
    await sleep(20);
    await store().put(digest, chunked(bytes));
    expect(await store().delete(digest, { unusedSince: later })).toBe(false);
    expect(await store().resolve(tag)).toBe(digest);
  });

  test("a reader that has begun reads to the end although the artifact is deleted", async () => {
    const { bytes, digest } = await stored(2_000_000);
    const reading = await store().get(digest);
    await store().delete(digest, { unusedSince: future() });
    expect((await buffer(reading)).equals(bytes)).toBe(true);
  });

  test("resolving and deleting at the same time: a resolved artifact is there", async () => {
    for (let round = 0; round < 20; round += 1) {
      const { digest } = await stored(1000);
      const tag = name();
      await store().tag(tag, digest);
      await sleep(5);
      const unusedSince = new Date();
      await sleep(2);
      const [found, gone] = await Promise.all([store().resolve(tag), store().delete(digest, { unusedSince })]);
      if (found !== null) expect([gone, await store().has(digest)]).toEqual([false, true]);
    }
  });
}
