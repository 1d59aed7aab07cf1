import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, startTestForge } from "./testing/test-forge.ts";

const MiB = 1024 * 1024;

// A file system of its own needs root.
test.runIf(process.getuid?.() === 0)(
  "GH-3 OPS-4 a full disk is told as that, and when space is back deploys go on",
  async () => {
    const disk = await mkdtemp(join(tmpdir(), "towpath-full-"));
    execFileSync("/usr/bin/mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", disk]);
    const forge = await startTestForge(join(disk, "data"));
    const work = await mkdtemp(join(tmpdir(), "towpath-work-"));
    try {
      await forge.admin.ensureAccount({ login: "ada" });
      const { pushUrl } = await forge.admin.ensureRepository({ owner: "ada", name: "first" });
      await git(work, "init", "--quiet", "--initial-branch", "main");
      await writeFile(join(work, "server.py"), "print()\n");
      await git(work, "add", ".");
      await git(work, "commit", "--quiet", "-m", "one");

      const filler = join(disk, "filler");
      await writeFile(filler, Buffer.alloc(8 * MiB, "x")).catch(() => {});
      const made = forge.admin.ensureRepository({ owner: "ada", name: "second" });
      await expect(made).rejects.toMatchObject({
        code: "out_of_storage",
        publicText: expect.stringMatching(/disk .* is full/),
      });
      const pushed = git(work, "push", "--quiet", pushUrl, "HEAD:refs/heads/main");
      await expect(pushed).rejects.toMatchObject({ stderr: expect.stringMatching(/No space left on device|507/) });

      await rm(filler);
      expect((await forge.admin.ensureRepository({ owner: "ada", name: "second" })).pushUrl).toContain("second");
      await git(work, "push", "--quiet", pushUrl, "HEAD:refs/heads/main");
      expect(await git(work, "ls-remote", pushUrl, "refs/heads/main")).toContain("refs/heads/main");
    } finally {
      await forge.close();
      execFileSync("/usr/bin/umount", ["-l", disk]);
      await Promise.all([disk, work].map((path) => rm(path, { recursive: true, force: true })));
    }
  },
);
