import { randomUUID } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { volumeCopies } from "./volume-copies.ts";
import { Volumes } from "./volumes.ts";

const bytes = 64 * 1024 ** 2;
let directory = "";
beforeAll(async () => {
  directory = await shortDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function hostOf(name: string) {
  const volumes = new Volumes({
    directory: `${directory}/${name}/volumes`,
    mountDirectory: `${directory}/${name}/m`,
    bytes,
  });
  onTestFinished(() => volumes.close());
  return { volumes, copies: volumeCopies(volumes, `${directory}/${name}/trash`) };
}

describe.runIf(process.getuid?.() === 0)("BLD-19 OPS-8 copies of /data", () => {
  test("BLD-19 OPS-8 what a server keeps is copied while it writes, as a sparse file, and used on another host", async () => {
    const [here, there] = [hostOf("here"), hostOf("there")];
    const id = randomUUID();
    const mounted = await here.volumes.open(id);
    await writeFile(`${mounted}/kept`, "before the copy");
    let isCopied = false;
    // Each write is newer than the one before it.
    const writing = (async () => {
      for (let count = 1; !isCopied; count += 1) await writeFile(`${mounted}/count`, String(count));
    })();
    let copy: Buffer = Buffer.alloc(0);
    await here.copies.read(id, async (chunks) => {
      copy = await buffer(chunks);
    });
    isCopied = true;
    await writing;
    expect(copy.length).toBeLessThan(bytes / 4);
    // Not frozen any more.
    await writeFile(`${mounted}/kept`, "after the copy");
    await there.copies.write(
      id,
      (async function* () {
        yield copy;
      })(),
    );
    expect(await there.copies.list()).toEqual([id]);
    const restored = await there.volumes.open(id);
    expect(await readFile(`${restored}/kept`, "utf8")).toBe("before the copy");
    expect(await readFile(`${restored}/count`, "utf8")).toMatch(/^\d*$/);
    const { blocks, size } = await stat(`${directory}/there/volumes/${id}.img`);
    expect([size, blocks * 512 < bytes / 2]).toEqual([bytes, true]);
  });

  test("OPS-8 a volume that no server has open is copied, too; a torn copy makes no volume", async () => {
    const here = hostOf("asleep");
    const id = randomUUID();
    await here.volumes.open(id);
    await here.volumes.close();
    let copy: Buffer = Buffer.alloc(0);
    await here.copies.read(id, async (chunks) => {
      copy = await buffer(chunks);
    });
    const other = randomUUID();
    const half = (async function* () {
      yield copy.subarray(0, copy.length / 2);
    })();
    await expect(here.copies.write(other, half)).rejects.toThrow("tar failed");
    expect(await here.copies.list()).toEqual([id]);
    await expect(here.copies.read(other, async () => {})).rejects.toThrow(`copying the volume ${other} failed`);
  });
});
