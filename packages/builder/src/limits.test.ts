import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { defaultBuildLimits } from "./index.ts";
import { plainServer } from "./testing/plain-server.ts";
import { openWorkshop } from "./testing/try-build.ts";

// Builds that write more than they may, with the real sandbox and uv.

vi.setConfig({ testTimeout: 120_000 });

const MiB = 1024 * 1024;

test("RUN-1 a build that would fill the disk is stopped", async () => {
  const greedy = await openWorkshop({ limits: { freeBytes: Number.MAX_SAFE_INTEGER } });
  const { result } = await greedy.tryBuild({ "server.py": plainServer, "requirements.txt": "idna\n" });
  expect(result).toMatchObject({ ok: false, diagnosis: { phase: "install", title: "The disk is nearly full" } });
  await greedy.close();
});

test("RUN-1 a package that writes endlessly is stopped at the build's limit", async () => {
  const small = await openWorkshop({ limits: { diskBytes: 256 * MiB }, ownCache: true, onDisk: true });
  // 8 GiB, unless it is stopped.
  const greedy = `
for number in range(256):
    with open(f"/app/build/{number}", "wb") as part:
        for _ in range(32):
            part.write(bytes(1024 * 1024))
raise SystemExit("the disk is mine")
`;
  let maxBytes = 0;
  const measuring = setInterval(async () => {
    const builds = join(small.dataDirectory, "builds");
    const [build = ""] = await readdir(builds).catch(() => []);
    const names = await readdir(join(builds, build, "work")).catch(() => []);
    const sizes = names.map((name) =>
      stat(join(builds, build, "work", name))
        .then(({ size }) => size)
        .catch(() => 0),
    );
    maxBytes = Math.max(
      maxBytes,
      (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
    );
  }, 20);
  const files = { "server.py": plainServer, "requirements.txt": "./greedy\n", "greedy/setup.py": greedy };
  const tried = await small.tryBuild(files);
  clearInterval(measuring);
  expect(tried.result, tried.text).toMatchObject({
    ok: false,
    diagnosis: { phase: "install", title: "Installing the dependencies used too much disk space" },
  });
  expect(maxBytes).toBeGreaterThan(128 * MiB);
  // Generous: a busy machine writes more before the build is stopped.
  expect(maxBytes).toBeLessThan(4_096 * MiB);
  await small.close();
});

test.runIf(isThorough)("RUN-1 no file of a build exceeds its limit, and fallocate is not available", async () => {
  const install = { ...defaultBuildLimits.install, fileBytes: 64 * MiB };
  const small = await openWorkshop({ limits: { install } });
  const large = `
import ctypes, os, sys
file = os.open("/app/build/large", os.O_RDWR | os.O_CREAT)
libc = ctypes.CDLL(None, use_errno=True)
reserved = libc.fallocate(file, 0, ctypes.c_int64(0), ctypes.c_int64(32 * 1024 * 1024))
print("RESERVE", reserved, os.strerror(ctypes.get_errno()), file=sys.stderr)
os.write(file, bytes(64 * 1024 * 1024))
os.write(file, b"one more")
`;
  const files = { "server.py": plainServer, "requirements.txt": "./large\n", "large/setup.py": large };
  const { text } = await small.tryBuild(files);
  expect(text).toContain("RESERVE -1 Operation not supported");
  expect(text).toContain("File too large");
  await small.close();
});
