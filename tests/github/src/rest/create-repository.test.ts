import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestForge, type TestForge } from "../testing/test-forge.ts";

let forge: TestForge;
let installationId: number;

beforeAll(async () => {
  forge = await startTestForge();
  await forge.admin.ensureAccount({ login: "ada", name: "Ada Lock", email: "ada@example.com" });
  ({ installationId } = await forge.admin.ensureInstallation({ login: "ada" }));
});

afterAll(() => forge.close());

test("ONB-4 GH-1 the sample becomes a repository in the user's account that the App can read", async () => {
  const token = await forge.admin.userToken("ada");
  const input = {
    userToken: token,
    name: "echo-server",
    description: "A first server",
    message: "Add the echo server",
    files: [
      { path: "echo.py", content: "print('echo')\n" },
      { path: "docs/notes.md", content: "Hi\n" },
    ],
  } as const;
  const created = await forge.gitHub.createRepositoryFromSample({ ...input, files: [input.files[0], input.files[1]] });
  expect(created.repository).toMatchObject({ full_name: "ada/echo-server", private: false, default_branch: "main" });
  expect(created.installationId).toBe(installationId);
  const at = { installationId, owner: "ada", name: "echo-server" };
  expect((await forge.gitHub.branch(at, "main")).commit).toMatchObject({
    sha: created.commitSha,
    message: "Add the echo server",
  });
  const { files } = await forge.gitHub.listFiles(at, "main");
  expect(files.map(({ path }) => path)).toEqual(["docs/notes.md", "echo.py"]);

  const again = await forge.gitHub.createRepositoryFromSample({ ...input, files: [input.files[0]] });
  expect(again.repository.name).toBe("echo-server-2");
});

test("ONB-4 without the App on the account the answer says where to install it", async () => {
  await forge.admin.ensureAccount({ login: "fay" });
  const token = await forge.admin.userToken("fay");
  const file = { path: "echo.py", content: "1\n" };
  const created = await forge.gitHub.createRepositoryFromSample({
    userToken: token,
    name: "echo",
    message: "Add",
    files: [file],
  });
  expect(created.installationId).toBeNull();
  expect(created.settingsUrl).toBe(`${forge.url}/apps/towpath-test/installations/new`);
});
