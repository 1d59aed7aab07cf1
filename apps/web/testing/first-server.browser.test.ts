import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build, gitSource, project, repository } from "@towpath/db/schema";
import { openRepositories } from "@towpath/git";
import { eq } from "drizzle-orm";
import { strToU8, zipSync } from "fflate";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { expectAccessibleInBothThemes, newPage, openBrowser, untilHydrated } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let directory: string;
let owner: Member;
let page: Page;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-upload-"));
  owner = await seededMember(site.url, site.db);
  page = await browser.signedInPage(site.url, owner);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const orgUrl = () => `${site.url}/${owner.organization.slug}`;
const store = () => openRepositories({ directory: join(site.dataDirectory, "repositories") });

/** A server's source and builds. */
async function stored(name: string) {
  const [row] = await site.db
    .select({ project, repository })
    .from(project)
    .innerJoin(gitSource, eq(gitSource.projectId, project.id))
    .innerJoin(repository, eq(repository.id, gitSource.repositoryId))
    .where(eq(project.name, name));
  if (!row) throw new Error(`there is no server ${name} of a repository of this instance`);
  const builds = await site.db.select().from(build).where(eq(build.projectId, row.project.id));
  return { ...row, builds };
}

/** Paths of the newest commit. */
async function filesOf(name: string): Promise<readonly string[]> {
  const reader = store().open((await stored(name)).repository.id);
  const { branches } = await reader.refs();
  const checkout = await reader.checkout({ branch: "main", sha: branches.get("main") ?? "" });
  await checkout.close();
  return (await checkout.paths()).toSorted();
}

async function folder(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(directory, name);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return path;
}

const weather = {
  "server.py": 'from fastmcp import FastMCP\nmcp = FastMCP("weather")\n',
  "requirements.txt": "fastmcp\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  "node_modules/a/b.js": "x",
  "src/__pycache__/a.pyc": "x",
  ".env": "K=1\n",
};

const upload = () => page.getByRole("region", { name: "Upload a folder or an archive" });

async function choose(where: ReturnType<typeof upload>, button: string, path: string): Promise<void> {
  await untilHydrated(page);
  const chooser = page.waitForEvent("filechooser");
  await where.getByRole("button", { name: button }).press("Enter");
  await (await chooser).setFiles(path);
}

test.runIf(isThorough)(
  "SRC-4 from sign-up to the first server in three clicks, without GitHub: account, proposed organization, sample",
  async () => {
    const context = await browser.newContext();
    const visitor = await newPage(context);
    await visitor.goto(`${site.url}/signup`);
    await visitor.getByLabel("First name").fill("Grace");
    await visitor.getByLabel("Last name").fill("Hopper");
    await visitor.getByLabel("Email").fill("grace@example.com");
    await visitor.getByLabel("Password").fill("correct horse battery");
    await visitor.getByRole("button", { name: "Create account" }).click();
    await visitor.waitForURL("**/welcome/create-organization");
    await visitor.getByRole("button", { name: "Create organization" }).click();
    await visitor.waitForURL("**/grace-hopper/servers/new");
    await visitor.getByRole("button", { name: "Deploy the sample" }).click();
    await visitor.waitForURL(/\/grace-hopper\/[a-z]+-[a-z]+-[a-z]+\/build-logs\/[0-9a-f-]{36}$/);
    const name = new URL(visitor.url()).pathname.split("/")[2] ?? "";
    const made = await stored(name);
    expect(made).toMatchObject({
      project: { entrypoint: "echo.py", authMode: "towpath-cloud", repositoryFullName: null },
      repository: { name, madeBy: "upload", defaultBranch: "main" },
      builds: [{ trigger: "quickstart", status: "queued", commitMessage: "Start from Towpath's echo sample" }],
    });
    expect(await filesOf(name)).toEqual(expect.arrayContaining(["README.md", "echo.py", "requirements.txt"]));
    await context.close();
  },
);

test("SRC-4 a folder is chosen by keyboard, its ignored files are shown, and it becomes a repository, a server and a build", async () => {
  await page.goto(`${orgUrl()}/servers/new`);
  await upload().getByText("up to 200 MB and 20,000 files").waitFor();
  await expectAccessibleInBothThemes(page);
  await choose(upload(), "Choose a folder", await folder("weather", weather));
  const picked = page.getByRole("region", { name: "To upload" });
  await picked.getByText(/^2 files, \d+ B\. Left out: \.env, \.git\/, __pycache__\/, node_modules\/\.$/).waitFor();
  await picked.getByText(/\.env has secrets/).waitFor();
  expect(await page.getByLabel("Server name").inputValue()).toBe("weather");
  await expectAccessibleInBothThemes(page);
  await page.getByLabel("Server name").fill("weather-station");
  await page.getByText("This name is available.").waitFor();
  await page.getByRole("textbox", { name: "Name of variable 1" }).fill("WEATHER_KEY");
  await page.getByRole("textbox", { name: "Value of WEATHER_KEY" }).fill("sunny-and-warm");
  await page.getByRole("button", { name: "Deploy", exact: true }).press("Enter");
  await page.waitForURL(/\/weather-station\/build-logs\//);
  expect(await filesOf("weather-station")).toEqual(["requirements.txt", "server.py"]);
  expect((await stored("weather-station")).builds).toMatchObject([
    { trigger: "import", commitMessage: "Upload files" },
  ]);
  const { rowCount } = await site.pool.query(
    "SELECT FROM secret JOIN project ON project.id = project_id WHERE project.name = 'weather-station'",
  );
  expect(rowCount).toBe(1);
});

test.runIf(isThorough)(
  "SRC-4 a folder and an archive can be dropped; other files and a taken name are refused and leave nothing",
  async () => {
    await page.goto(`${orgUrl()}/servers/new`);
    await untilHydrated(page);
    const path = await folder("River Gauge", {
      "main.py": "x = 1\n",
      "lib/a.py": "y = 2\n",
      ".venv/pyvenv.cfg": "home",
    });
    const place = await upload().boundingBox();
    const at = { x: (place?.x ?? 0) + 20, y: (place?.y ?? 0) + 20 };
    const client = await page.context().newCDPSession(page);
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      const data = { items: [], files: [path], dragOperationsMask: 1 };
      await client.send("Input.dispatchDragEvent", { type, ...at, data });
    }
    await page.getByText(/^2 files, 12 B\. Left out: \.venv\/\.$/).waitFor();
    expect(await page.getByLabel("Server name").inputValue()).toBe("river-gauge");
    await page.getByRole("button", { name: "Choose another" }).click();
    await choose(upload(), "Choose an archive", await writtenTo("photo.png", new Uint8Array([1])));
    await page.getByText("photo.png is no archive.").waitFor();
    await expectAccessibleInBothThemes(page);
    const zip = zipSync({ "gauge-1/server.py": strToU8("x = 1\n"), "gauge-1/.gitignore": strToU8("*.pyc\n") });
    await choose(upload(), "Choose an archive", await writtenTo("gauge-1.zip", zip));
    await page.getByRole("region", { name: "To upload" }).getByText("gauge-1.zip").waitFor();
    await page.getByLabel("Server name").fill("weather-station");
    await page.getByText("This project name is already taken").waitFor();
    await page.getByLabel("Server name").fill("gauge-server");
    await page.getByText("This name is available.").waitFor();
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.waitForURL(/\/gauge-server\/build-logs\//);
    expect(await filesOf("gauge-server")).toEqual([".gitignore", "server.py"]);
    // Refused after it was sent: no repository stays behind.
    await page.goto(`${orgUrl()}/servers/new`);
    await choose(upload(), "Choose an archive", await writtenTo("broken-one.zip", new TextEncoder().encode("no zip")));
    await page.getByRole("button", { name: "Deploy", exact: true }).click();
    await page.getByText("The server was not created").waitFor();
    await expectAccessibleInBothThemes(page);
    expect(await site.db.$count(repository, eq(repository.name, "broken-one"))).toBe(0);
  },
);

async function writtenTo(name: string, bytes: Uint8Array): Promise<string> {
  await writeFile(join(directory, name), bytes);
  return join(directory, name);
}

test.runIf(isThorough)("SRC-4 an upload shows how far it is, and can be canceled", async () => {
  await page.goto(`${orgUrl()}/servers/new`);
  const stalled = Promise.withResolvers<void>();
  await page.route("**/uploads", async (route) => {
    await stalled.promise;
    await route.abort().catch(() => {});
  });
  await choose(upload(), "Choose a folder", await folder("slow-river", weather));
  await page.getByText("This name is available.").waitFor();
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByRole("progressbar").waitFor();
  await expectAccessibleInBothThemes(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("progressbar").waitFor({ state: "detached" });
  stalled.resolve();
  await page.unroute("**/uploads");
  expect(await page.getByText("The server was not created").count()).toBe(0);
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL(/\/slow-river\/build-logs\//);
});

test.runIf(isThorough)(
  "SRC-4 a new version is uploaded to a server; over somebody else's commit only when that was seen",
  async () => {
    const { repository: own } = await stored("weather-station");
    const head = async () => (await store().open(own.id).refs()).branches.get("main");
    const version = () => page.getByRole("region", { name: "Upload a new version" });
    await page.goto(`${orgUrl()}/weather-station/settings#source`);
    await choose(version(), "Choose a folder", await folder("weather-2", { "server.py": "x = 2\n", "new.py": "" }));
    await version().getByText("It replaces all files").waitFor();
    await version().getByLabel("What changed").fill("Measure twice");
    await expectAccessibleInBothThemes(page);
    await version().getByRole("button", { name: "Upload", exact: true }).click();
    await page.getByText("Uploaded. The build starts now.").waitFor();
    expect(await filesOf("weather-station")).toEqual(["new.py", "server.py"]);
    const author = { name: "Bea", email: "bea@example.com" };
    const archive = () => new Blob([zipSync({ "server.py": strToU8("x = 3\n") })]).stream();
    await store().commitFiles(own.id, { branch: "main", archive: archive(), author, message: "Theirs" });
    const theirs = await head();
    // No worker runs here, which would have processed the first upload.
    await choose(version(), "Choose a folder", await folder("weather-3", { "server.py": "x = 4\n" }));
    await version().getByRole("button", { name: "Upload", exact: true }).click();
    await version().getByText("Somebody else has changed it meanwhile").waitFor();
    await expectAccessibleInBothThemes(page);
    expect(await head()).toBe(theirs);
  },
);
