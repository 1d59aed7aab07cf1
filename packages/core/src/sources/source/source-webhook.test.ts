import { createHmac } from "node:crypto";
import { auditLog, gitSource } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { refusalCode, type SeededOrganization, seedOrganization } from "../../testing/index.ts";
import { openGitScene } from "../../testing/play-git.ts";
import { getSource, makeSourceWebhookSecret, receiveSourceWebhook, removeSourceWebhookSecret } from "./index.ts";

const rawBody = Buffer.from('{"ref":"refs/heads/main"}');

let organization: SeededOrganization;
let made: { readonly id: string; readonly name: string };
const scene = openGitScene((fresh) => {
  ({ organization } = fresh);
});
beforeEach(async () => {
  ({ project: made } = await scene.deploy(organization));
  scene.queue.jobs.length = 0;
});

const as = (actor: Actor = organization.owner) => scene.as(actor);
const input = () => ({ orgSlug: organization.slug, projectName: made.name });
const receive = (headers: Record<string, string>, projectId = made.id) =>
  receiveSourceWebhook({
    ctx: as({ kind: "job", job: "webhook.receive" }),
    input: { projectId, headers: new Headers(headers), rawBody },
  });
const checks = () => scene.queue.jobs.filter(({ name }) => name === "source.check");
const sign = (secret: string) => createHmac("sha256", secret).update(rawBody).digest("hex");

test("SRC-2 webhooks of GitHub, Gitea, GitLab and Bitbucket have the repository asked at once", async () => {
  const { secret, source } = await makeSourceWebhookSecret({ ctx: as(), input: input() });
  expect(source.webhook).toMatchObject({
    hasSecret: true,
    url: `https://towpath.example/api/sources/${made.id}/webhook`,
  });
  for (const [header, value] of [
    ["x-hub-signature-256", `sha256=${sign(secret)}`],
    ["x-gitea-signature", sign(secret)],
    ["x-gitlab-token", secret],
    ["x-hub-signature", `sha256=${sign(secret)}`],
  ] as const) {
    scene.queue.jobs.length = 0;
    await receive({ [header]: value });
    expect(checks()).toMatchObject([{ payload: { projectId: made.id } }]);
  }
  const [row] = await scene.db.select().from(gitSource).where(eq(gitSource.projectId, made.id));
  expect(row?.nextCheckAt.getTime()).toBeLessThanOrEqual(Date.now());
  expect(JSON.stringify(row)).not.toContain(secret);
  const shown = await getSource({ ctx: as(), input: input() });
  expect(shown).toMatchObject({ webhook: { receivedAt: expect.any(String) } });
  expect(JSON.stringify(shown)).not.toContain(secret);
});

test("SRC-2 ERR-1 a wrong signature, an earlier secret and an unknown project are refused alike, and nothing is asked", async () => {
  const { secret: first } = await makeSourceWebhookSecret({ ctx: as(), input: input() });
  const { secret } = await makeSourceWebhookSecret({ ctx: as(), input: input() });
  expect(secret).not.toBe(first);
  const right = { "x-hub-signature-256": `sha256=${sign(secret)}` };
  for (const [headers, projectId] of [
    [{}, made.id],
    [{ "x-hub-signature-256": `sha256=${sign(first)}` }, made.id],
    [{ "x-hub-signature-256": sign(secret) }, made.id],
    [{ "x-gitlab-token": "" }, made.id],
    [right, crypto.randomUUID()],
    [right, "no id"],
  ] as const) {
    expect(await refusalCode(receive(headers, projectId))).toBe("unauthenticated");
  }
  await removeSourceWebhookSecret({ ctx: as(), input: input() });
  expect(await refusalCode(receive(right))).toBe("unauthenticated");
  expect(checks()).toEqual([]);
  const actions = await scene.db
    .select({ action: auditLog.action })
    .from(auditLog)
    .where(eq(auditLog.projectId, made.id));
  expect(actions.map(({ action }) => action).toSorted()).toEqual([
    "project.create",
    "source.makeWebhookSecret",
    "source.makeWebhookSecret",
    "source.removeWebhookSecret",
  ]);
});

test("SRC-2 a webhook's secret is made and removed by members only", async () => {
  const others = await seedOrganization(scene.db);
  for (const verb of [makeSourceWebhookSecret, removeSourceWebhookSecret]) {
    expect(await refusalCode(verb({ ctx: as(await organization.join("viewer")), input: input() }))).toBe("forbidden");
    expect(await refusalCode(verb({ ctx: as(others.owner), input: input() }))).toBe("not_found");
  }
});
