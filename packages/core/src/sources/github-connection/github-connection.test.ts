import { auditLog, githubConnection, githubInstallation, githubUser, project } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { createSecretBox } from "@towpath/secrets";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { newId } from "../../ids/index.ts";
import { openOrganization, refusal, refusalCode, seedProject, testContext } from "../../testing/index.ts";
import { recordGitHubUser, recordInstallation } from "../installation/index.ts";
import { gitHubApiUrl, gitHubHostName } from "./github-connection.schema.ts";
import { changeGitHubKeys, connectGitHub, listGitHub, openGitHub, removeGitHub } from "./index.ts";
import { atHost, numberOf } from "./numbers.schema.ts";

const secrets = createSecretBox({ current: "a root secret of 32 characters or more", previous: [] });
const database = openTestDatabase();
/** The instance's own organization: the oldest. */
const own = openOrganization(database);
const others = openOrganization(database);

const as = (actor: Actor) => testContext(database.db, actor, { secrets });
const job = () => as({ kind: "job", job: "test" });
const open = () => openGitHub({ ctx: job(), input: { onProblem: (_app, error) => Promise.reject(error) } });
const appOf = (host: string, appId: string) => ({
  id: newId(),
  url: `https://${host}`,
  apiUrl: gitHubApiUrl(`https://${host}`),
  appId,
  appSlug: `towpath-${appId}`,
  clientId: `Iv1.${appId}`,
  ownerLogin: "acme",
  clientSecret: "client secret",
  privateKey: "-----BEGIN private",
  webhookSecret: "webhook secret",
});
const connect = (input = appOf("github.com", "1"), actor: Actor = own.owner, orgSlug = own.slug) =>
  connectGitHub({ ctx: as(actor), input: { ...input, orgSlug } });

test("GH-5 several Apps are connected, sealed, and opened by the platform only", async () => {
  const first = await connect();
  const second = await connect(appOf("ghe.example.com", "1"));
  expect(first).toMatchObject({ hostName: "GitHub", appSlug: "towpath-1", accounts: [], servers: [] });
  expect(second.hostName).toBe("GitHub at ghe.example.com");
  expect(second.number).toBeGreaterThan(first.number);
  const rows = JSON.stringify(await database.db.select().from(githubConnection));
  const entries = await database.db.select().from(auditLog).where(eq(auditLog.organizationId, own.id));
  for (const text of [rows, JSON.stringify(entries), JSON.stringify([first, second])])
    expect(text).not.toMatch(/client secret|BEGIN private|webhook secret/);
  expect(entries).toMatchObject([
    { action: "github.connect", subject: "towpath-1", detail: { host: "GitHub", owner: "acme" } },
    { action: "github.connect", detail: { host: "GitHub at ghe.example.com" } },
  ]);
  expect(await open()).toMatchObject([
    {
      id: first.id,
      number: first.number,
      version: 1,
      privateKey: "-----BEGIN private",
      webhookSecret: "webhook secret",
    },
    { id: second.id, apiUrl: "https://ghe.example.com/api/v3" },
  ]);
  expect(await refusalCode(openGitHub({ ctx: as(own.owner), input: { onProblem: () => {} } }))).toBe("forbidden");
  expect(await refusalCode(connect())).toBe("conflict");
});

test("GH-5 only owners of the instance's own organization manage its Apps", async () => {
  const admin = await own.join("admin");
  const [{ id = "" } = {}] = await database.db.select().from(githubConnection);
  for (const [actor, orgSlug] of [
    [admin, own.slug],
    [others.owner, others.slug],
    [others.owner, own.slug],
  ] as const) {
    const ctx = as(actor);
    const keys = { clientSecret: "other" };
    expect(await refusalCode(connect(appOf("github.com", "9"), actor, orgSlug))).toBe("forbidden");
    expect(await refusalCode(listGitHub({ ctx, input: { orgSlug, environment: null } }))).toBe("forbidden");
    expect(await refusalCode(changeGitHubKeys({ ctx, input: { orgSlug, id, keys } }))).toBe("forbidden");
    expect(await refusalCode(removeGitHub({ ctx, input: { orgSlug, id, confirmation: "towpath-1" } }))).toBe(
      "forbidden",
    );
  }
  const refused = await refusal(
    listGitHub({ ctx: as(others.owner), input: { orgSlug: others.slug, environment: null } }),
  );
  expect(refused.message).toContain(`its own organization, Org ${own.slug}`);
});

test("GH-5 new keys replace those that are given, and count from the next use", async () => {
  const [before] = await open();
  const input = { orgSlug: own.slug, id: before?.id ?? "", keys: { privateKey: "-----BEGIN newer" } };
  await changeGitHubKeys({ ctx: as(own.owner), input });
  const [after] = await open();
  expect(after).toMatchObject({ version: 2, privateKey: "-----BEGIN newer", clientSecret: "client secret" });
  const none = changeGitHubKeys({ ctx: as(own.owner), input: { ...input, keys: {} } });
  expect(await refusalCode(none)).toBe("invalid_input");
  expect(await refusalCode(changeGitHubKeys({ ctx: as(own.owner), input: { ...input, id: newId() } }))).toBe(
    "not_found",
  );
  const [entry] = await database.db.select().from(auditLog).where(eq(auditLog.action, "github.rotate"));
  expect(entry?.detail).toEqual({ host: "GitHub", changed: ["privateKey"] });
});

test("GH-5 the same installation, repository and user ids of two hosts are different things", async () => {
  const [github, enterprise] = await open();
  const [one, two] = [github?.number ?? 0, enterprise?.number ?? 0];
  expect([numberOf(0, 7), atHost(numberOf(two, 7))]).toEqual([7, { connection: two, id: 7 }]);
  expect(() => numberOf(1, 2 ** 40)).toThrow(RangeError);
  expect(() => numberOf(1, -1)).toThrow(RangeError);
  const ctx = as(others.owner);
  const connected = { orgSlug: others.slug, accountType: "User" };
  for (const number of [one, two]) {
    const installationId = numberOf(number, 7);
    await recordInstallation({ ctx, input: { ...connected, installationId, accountLogin: `ada-${number}` } });
    await seedProject(database.db, others, { name: `of-${number}`, installationId, repositoryId: numberOf(number, 5) });
    await recordGitHubUser({ ctx, input: { githubUserId: numberOf(number, 3) } });
  }
  await seedProject(database.db, others, { name: "of-environment", repositoryId: 5 });
  const environment = { url: "https://github.com", appSlug: "from-environment" };
  const list = await listGitHub({ ctx: as(own.owner), input: { orgSlug: own.slug, environment } });
  expect(list.map(({ number, appSlug, servers }) => [number, appSlug, servers])).toEqual([
    [0, "from-environment", ["of-environment"]],
    [one, "towpath-1", [`of-${one}`]],
    [two, "towpath-1", [`of-${two}`]],
  ]);
  expect(list[0]).toMatchObject({ id: null, createdAt: null });
  expect(list.slice(1).map(({ accounts }) => accounts)).toEqual([[`ada-${one}`], [`ada-${two}`]]);
});

test("GH-5 a removed App takes its accounts along; its servers stay, and other connections are as before", async () => {
  const [github, enterprise] = await open();
  const [one, two] = [github?.number ?? 0, enterprise?.number ?? 0];
  const remove = (confirmation: string) =>
    removeGitHub({ ctx: as(own.owner), input: { orgSlug: own.slug, id: enterprise?.id ?? "", confirmation } });
  expect(await refusalCode(remove("yes"))).toBe("invalid_input");
  await remove("towpath-1");
  expect((await open()).map(({ number }) => number)).toEqual([one]);
  const names = await database.db
    .select({ name: project.name })
    .from(project)
    .where(eq(project.organizationId, others.id));
  expect(names.map(({ name }) => name)).toContain(`of-${two}`);
  const rows = await database.db
    .select()
    .from(githubInstallation)
    .where(eq(githubInstallation.organizationId, others.id));
  expect(rows.map(({ installationId }) => atHost(installationId).connection).toSorted()).toEqual([0, one]);
  expect((await database.db.select().from(githubUser)).map(({ connection }) => connection)).toEqual([one]);
  const [entry] = await database.db.select().from(auditLog).where(eq(auditLog.action, "github.remove"));
  expect(entry).toMatchObject({ subject: "towpath-1", detail: { host: "GitHub at ghe.example.com", servers: 1 } });
  // Numbers are never used again, so what is left of it belongs to nothing new.
  expect((await connect(appOf("ghe.example.com", "1"))).number).toBeGreaterThan(two);
});

test("GH-5 hosts are called by their own names, and asked at their own addresses", () => {
  expect(gitHubHostName("https://github.com")).toBe("GitHub");
  expect(gitHubHostName("https://ghe.example.com:8443")).toBe("GitHub at ghe.example.com:8443");
  expect(gitHubApiUrl("https://github.com")).toBe("https://api.github.com");
  expect(gitHubApiUrl("https://acme.ghe.com")).toBe("https://api.acme.ghe.com");
  expect(gitHubApiUrl("https://ghe.example.com")).toBe("https://ghe.example.com/api/v3");
});
