import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, locationOf, startTestForge, type TestForge, userToken } from "../testing/test-forge.ts";

let forge: TestForge;
let installationId: number;

beforeAll(async () => {
  forge = await startTestForge();
  await forge.admin.ensureAccount({ login: "ada", name: "Ada Lock", email: "ada@example.com" });
  ({ installationId } = await forge.admin.ensureInstallation({ login: "ada" }));
});

afterAll(() => forge.close());

test("ONB-4 GH-1 the sample becomes a repository in the user's account that the App can read", async () => {
  const token = await userToken(forge, "ada");
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
  const token = await userToken(forge, "fay");
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

test("ONB-4 an installation on chosen repositories gets the one that the App creates", async () => {
  await forge.admin.ensureAccount({ login: "gil" });
  const { repository } = await forge.admin.ensureRepository({ owner: "gil", name: "chosen" });
  await forge.admin.ensureRepository({ owner: "gil", name: "hidden" });
  const browser = new Browser(forge.url);
  await browser.submit("/login", { existing: "gil" });
  const fields = { selection: "selected", repository: String(repository.id) };
  const installed = locationOf(await browser.submit("/apps/towpath-test/installations", fields));
  const id = Number(installed.searchParams.get("installation_id"));
  const file = { path: "echo.py", content: "1\n" };
  const created = await forge.gitHub.createRepositoryFromSample({
    userToken: await userToken(forge, "gil"),
    name: "echo",
    message: "Add",
    files: [file],
  });
  expect(created.installationId).toBe(id);
  const { items } = await forge.gitHub.repositories(id);
  expect(items.map(({ name }) => name)).toEqual(["chosen", "echo"]);
  await expect(forge.gitHub.repository({ installationId: id, owner: "gil", name: "hidden" })).rejects.toMatchObject({
    code: "not_found",
  });
});
