import { unzipSync } from "fflate";
import { expect, test } from "vitest";
import { packFolder } from "./pack.ts";
import { isArchive, pickedArchive, pickedFolder, sizeProblem } from "./picked.ts";

const chosen = (path: string, text = "x") => {
  const file = new File([text], path.split("/").at(-1) ?? "");
  Object.defineProperty(file, "webkitRelativePath", { value: path });
  return file;
};

test("SRC-4 a folder without history, environments, caches and secrets: their names are kept, to be shown", async () => {
  const picked = await pickedFolder(
    [
      "weather/server.py",
      "weather/src/a.py",
      "weather/.env.example",
      "weather/.gitignore",
      "weather/environ/x.py",
      "weather/.git/HEAD",
      "weather/src/__pycache__/a.pyc",
      "weather/web/node_modules/x/y.js",
      "weather/.venv/bin/python",
      "weather/.env",
      "weather/docs/.DS_Store",
    ].map((path) => chosen(path)),
  );
  expect(picked).toMatchObject({
    kind: "folder",
    name: "weather",
    bytes: 5,
    leftOut: [".DS_Store", ".env", ".git/", ".venv/", "__pycache__/", "node_modules/"],
  });
  const paths = "files" in picked ? picked.files.map(({ path }) => path) : [];
  expect(paths).toEqual(["server.py", "src/a.py", ".env.example", ".gitignore", "environ/x.py"]);
});

test("SRC-4 a folder's .gitignore files are read in the browser, and say what isn't uploaded", async () => {
  const picked = await pickedFolder([
    chosen("weather/.gitignore", "dist/\n*.log\n!.env\n"),
    chosen("weather/src/.gitignore", "!kept.log\n"),
    ...["weather/server.py", "weather/dist/a.js", "weather/dist/b.js", "weather/a.log", "weather/src/kept.log"].map(
      (path) => chosen(path),
    ),
    chosen("weather/.env"),
  ]);
  const paths = "files" in picked ? picked.files.map(({ path }) => path) : [];
  expect(paths).toEqual([".gitignore", "src/.gitignore", "server.py", "src/kept.log"]);
  expect(picked).toMatchObject({ leftOut: [".env", "a.log", "dist/"] });
  expect(await pickedFolder([chosen("weather/.gitignore", "*\n"), chosen("weather/server.py")])).toHaveProperty(
    "problem",
  );
});

test("SRC-4 only ignored files, an unsupported file, and too many files are refused with the reason", async () => {
  expect(await pickedFolder([chosen("weather/.git/HEAD")])).toEqual({
    problem: "There are no files in it to build a server from.",
  });
  expect(await pickedFolder([])).toHaveProperty("problem");
  expect(pickedArchive(new File(["x"], "photo.png"))).toEqual({
    problem: "photo.png is no archive. Choose a .zip, .tar or .tar.gz file, or a folder.",
  });
  expect(pickedArchive(new File(["x"], "Weather-1.2.tar.gz"))).toMatchObject({ kind: "archive", name: "Weather-1.2" });
  expect(["a.zip", "a.TGZ", "a.tar", "a.gz", "zip"].map((name) => isArchive({ name }))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  const of = (bytes: number, count: number) =>
    sizeProblem({ kind: "folder", name: "a", bytes, files: Array(count).fill({ path: "a" }), leftOut: [] });
  expect([of(1, 1), of(200_000_000, 20_000)]).toEqual([null, null]);
  expect(of(200_000_001, 1)).toContain("It has 200.0 MB");
  expect(of(1, 20_001)).toContain("It has 20,001 files");
});

test("SRC-4 a folder is packed as a zip with its paths, the same bytes for the same files, and can be canceled", async () => {
  const files = ["server.py", "src/weather/a.py", "empty.txt"].map((path) => ({
    path,
    file: new File(path === "empty.txt" ? [] : [`# ${path}\n`.repeat(1000)], path),
  }));
  const seen: number[] = [];
  const pack = (signal = new AbortController().signal) =>
    packFolder(files, { signal, onProgress: (bytes) => seen.push(bytes) });
  const [one, other] = [await (await pack()).bytes(), await (await pack()).bytes()];
  const unpacked = unzipSync(one);
  expect(Object.keys(unpacked)).toEqual(files.map(({ path }) => path));
  expect(new TextDecoder().decode(unpacked["src/weather/a.py"])).toMatch(/^(# src\/weather\/a\.py\n){1000}$/);
  expect(Buffer.compare(one, other)).toBe(0);
  expect(seen.slice(0, 3)).toEqual([12_000, 31_000, 31_000]);
  await expect(pack(AbortSignal.abort())).rejects.toThrow("aborted");
});
