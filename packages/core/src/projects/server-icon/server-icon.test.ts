import { serverIcon } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import type { ServerIcon } from "@towpath/mcp/manifest";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { startBuild, takeBuild } from "../../delivery/build/index.ts";
import { createDeployment, goLive } from "../../delivery/deployment/index.ts";
import { getProfile } from "../../tenancy/organization/index.ts";
import {
  openOrganization,
  png,
  refusalCode,
  sampleManifest,
  sampleOutcome,
  seedLiveProject,
  seedProject,
  shaOf,
  testContext,
} from "../../testing/index.ts";
import { checkExternalServer, createExternalServer } from "../external-server/index.ts";
import { getProject, listProjects } from "../project/index.ts";
import { getRegistryEntry } from "../registry/index.ts";
import { chooseIcons } from "./choose-icons.ts";
import { getServerIcon } from "./index.ts";
import { findIconUrl, readServerIcon, storeServerIcon } from "./internal.ts";

const database = openTestDatabase();
const organization = openOrganization(database, { fresh: true });

const secrets = createSecretBox({ current: "a root secret of 32 characters..", previous: [] });
const dataUri = (bytes: Buffer, type = "image/png") => `data:${type};base64,${bytes.toString("base64")}`;

/** Reads icons where `files` are the web; `asked`: the addresses that were fetched. */
async function read(icons: readonly ServerIcon[], files: Readonly<Record<string, Buffer>> = {}) {
  const asked: string[] = [];
  const file = async (url: string) => {
    asked.push(url);
    return files[url] ?? Promise.reject(new Error(`Nothing is at ${url}.`));
  };
  const { externalServers } = testContext(database.db, organization.owner, {
    externalServers: { reach: async () => null, inspect: () => Promise.reject(new Error("not asked")), file },
  });
  return { ...(await readServerIcon({ externalServers }, icons)), asked };
}

test("CAP-7 of a server's icons the best raster one is read: large enough, for light pages, data: or https:", () => {
  const at = (src: string, more: Partial<ServerIcon> = {}) => ({ src: `https://x.example/${src}`, ...more });
  expect(
    chooseIcons([
      at("16.png", { sizes: ["16x16"] }),
      at("512.png", { sizes: ["512x512"] }),
      at("96.png", { sizes: ["96x96"] }),
    ]),
  ).toEqual(["96.png", "512.png", "16.png"].map((name) => `https://x.example/${name}`));
  const dark = at("dark.png", { theme: "dark", sizes: ["96x96"] });
  expect(chooseIcons([dark, at("any.png")])).toEqual(["https://x.example/any.png", "https://x.example/dark.png"]);
  const none = [
    "http://x.example/a.png",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "/icon.png",
    "https://x.example/a.svg",
  ];
  expect(chooseIcons(none.map((src) => ({ src })))).toEqual([]);
  expect(chooseIcons([at("a", { mimeType: "image/svg+xml" }), { src: "data:image/svg+xml;base64,AAAA" }])).toEqual([]);
  expect(chooseIcons(Array.from({ length: 9 }, (_, n) => at(`${n}.png`)))).toHaveLength(3);
});

test("CAP-7 an icon is what its bytes are: a small PNG, WebP or JPEG; anything else is refused with the reason", async () => {
  const icon = png(96, 96);
  expect(await read([])).toMatchObject({ icon: null, problem: null });
  expect(await read([{ src: dataUri(icon) }])).toMatchObject({ icon: { contentType: "image/png", bytes: icon } });
  // A declared type says nothing.
  const mislabeled = await read([{ src: dataUri(icon, "image/webp") }]);
  expect(mislabeled.icon?.contentType).toBe("image/png");
  const svg = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>");
  for (const [src, problem] of [
    [dataUri(svg), "no PNG, WebP or JPEG"],
    [dataUri(svg, "image/svg+xml"), "SVG pictures are not shown"],
    [dataUri(png(2000, 10)), "1024 × 1024 pixels"],
    [dataUri(Buffer.concat([icon, Buffer.alloc(200_000)])), "at most 100 kB"],
    ["data:image/png,%3Csvg%3E", "no PNG, WebP or JPEG"],
    ["https://gone.example/a.png", "Nothing is at https://gone.example/a.png."],
  ] as const)
    expect(await read([{ src }])).toMatchObject({ icon: null, problem: expect.stringContaining(problem) });
  const url = "https://x.example/icon.png";
  const found = await read([{ src: "https://gone.example/a.png" }, { src: url }, { src: dataUri(svg) }], {
    [url]: icon,
  });
  expect(found).toMatchObject({ icon: { bytes: icon }, asked: ["https://gone.example/a.png", url] });
});

test("CAP-7 a build's icon is shown from this site: in lists, on its page and in the registry, to whoever has its address", async () => {
  const project = await seedProject(database.db, organization, { isPublic: true });
  const bytes = png(96, 96, project.name);
  const { icon } = await read([{ src: dataUri(bytes) }]);
  if (!icon) throw new Error("the icon was refused");
  const ctx = testContext(database.db, organization.owner);
  const worker = testContext(database.db, { kind: "job", job: "build.run" });
  const scope = { orgSlug: organization.slug, projectName: project.name };
  const { build } = await startBuild({ ctx, input: { ...scope, commitSha: shaOf("a"), trigger: "cli" } });
  const fence = { buildId: build.id, attempt: 1 };
  await takeBuild({ ctx: worker, input: fence });
  await createDeployment({ ctx: worker, input: { ...sampleOutcome(fence), icon } });
  expect(await findIconUrl(database.db, project.id)).toBeNull();
  await goLive({ ctx: worker, input: { ...fence, timings: {} } });
  const url = `/api/icons/${icon.hash}`;
  expect(await getProject({ ctx, input: scope })).toMatchObject({ iconUrl: url });
  const listed = await listProjects({ ctx, input: { orgSlug: organization.slug, text: project.name } });
  expect(listed[0]).toMatchObject({ iconUrl: url });
  const userId = organization.owner.kind === "user" ? organization.owner.userId : "";
  const { projects } = await getProfile({ ctx, input: { userId } });
  expect(projects.find(({ id }) => id === project.id)).toMatchObject({ iconUrl: url });
  const entry = await getRegistryEntry({ ctx, input: { projectName: project.name, baseUrl: "https://t.example" } });
  expect(entry?.meta.favicon).toBe(url);
  expect(await findIconUrl(database.db, project.id)).toBe(url);
  const db = { db: database.db };
  expect(await getServerIcon({ ctx: db, input: { hash: icon.hash } })).toEqual({ contentType: "image/png", bytes });
  for (const hash of ["", "nonsense", "x".repeat(43), `${icon.hash}'`])
    expect(await refusalCode(getServerIcon({ ctx: db, input: { hash } }))).toBe("not_found");
  const without = await seedLiveProject(database.db, organization, {}, { manifest: sampleManifest() });
  expect(await findIconUrl(database.db, without.id)).toBeNull();
});

test("CAP-7 a project keeps the icons of its newest twenty versions", async () => {
  const project = await seedProject(database.db, organization);
  const start = Date.UTC(2026, 0, 1);
  const store = async (at: number) => {
    const { icon } = await read([{ src: dataUri(png(8, 8, `${at}`)) }]);
    if (icon) await database.db.transaction((tx) => storeServerIcon(tx, project.id, icon, new Date(start + at)));
  };
  for (let at = 0; at < 22; at++) await store(at);
  await store(21);
  const kept = await database.db.select().from(serverIcon).where(eq(serverIcon.projectId, project.id));
  expect(kept.map(({ createdAt }) => createdAt.getTime() - start).toSorted((a, b) => a - b)[0]).toBe(2);
  expect(kept).toHaveLength(20);
});

test("CAP-7 ORG-9 an external server's icon is read when its handshake names another, and stays while it can't be read", async () => {
  let icons: readonly ServerIcon[] = [{ src: dataUri(png(48, 48, "first")) }];
  let reads = 0;
  const manifest = sampleManifest();
  const ctx = testContext(database.db, organization.owner, {
    secrets,
    externalServers: {
      reach: async () => null,
      inspect: async () => ({ ok: true, manifest, icons }),
      file: async () => {
        reads += 1;
        throw new Error("unreachable");
      },
    },
  });
  const name = `iconic-${organization.slug.slice(-6)}`;
  const made = await createExternalServer({
    ctx,
    input: { orgSlug: organization.slug, name, url: "https://x.example/mcp" },
  });
  const first = await findIconUrl(database.db, made.id);
  expect(first).toMatch(/^\/api\/icons\/[\w-]{43}$/);
  const userId = organization.owner.kind === "user" ? organization.owner.userId : "";
  const { projects } = await getProfile({ ctx, input: { userId } });
  expect(projects.find(({ id }) => id === made.id)).toMatchObject({ iconUrl: first });
  const check = async () => {
    await checkExternalServer({ ctx, input: { projectId: made.id } });
    return findIconUrl(database.db, made.id);
  };
  expect(await check()).toBe(first);
  icons = [{ src: "https://gone.example/icon.png" }];
  expect([await check(), reads]).toEqual([first, 1]);
  icons = [{ src: dataUri(png(48, 48, "second")) }];
  expect(await check()).not.toBe(first);
  icons = [];
  expect(await check()).toBeNull();
});
