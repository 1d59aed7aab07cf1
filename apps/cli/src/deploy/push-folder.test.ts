import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test, vi } from "vitest";
import { pushFolder } from "./push-folder.ts";

test("GH-2 the forge gets the credential, and no process has it among its arguments", async () => {
  const folder = await mkdtemp("/tmp/tw-");
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A git that writes down how it was called, and then is the real one.
  await mkdir(`${folder}/bin`);
  await writeFile(`${folder}/bin/git`, `#!/bin/sh\nprintf '%s\\n' "$@" >>${folder}/calls\nexec /usr/bin/git "$@"\n`);
  await chmod(`${folder}/bin/git`, 0o755);
  vi.stubEnv("PATH", `${folder}/bin:${process.env.PATH}`);
  try {
    await mkdir(`${folder}/work`);
    const { port } = server.address() as AddressInfo;
    const url = `http://ada:very%20secret@127.0.0.1:${port}/ada/tools.git`;
    await expect(pushFolder(`${folder}/work`, { url, branch: "main" })).rejects.toThrow("could not be pushed");
    const calls = await readFile(`${folder}/calls`, "utf8");
    expect(calls).toContain(`http://127.0.0.1:${port}/ada/tools.git`);
    expect(calls).not.toContain("secret");
    expect(seen).toContain(`Basic ${Buffer.from("ada:very secret").toString("base64")}`);
  } finally {
    vi.unstubAllEnvs();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
