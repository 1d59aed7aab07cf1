import { auditLog, member, organization, picture, user } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Actor } from "../../context/index.ts";
import { png, refusal, refusalCode, seedOrganization, seedUser, testContext } from "../../testing/index.ts";
import { deleteOrganization, getProfile } from "../organization/index.ts";
import { readImage } from "./image-bytes.ts";
import { changeOrganizationPicture, changeOwnPicture, getPicture } from "./index.ts";

const database = openTestDatabase();

const webp = (chunk: string, bytes: readonly number[]) =>
  Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBP"), Buffer.from(chunk), Buffer.alloc(4), Buffer.from(bytes)]);
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 11, 8, 0, 200, 1, 0, 1, 1, 0x11, 0]);

const as = (actor: Actor) => testContext(database.db, actor);
const saveOwn = (actor: Actor, bytes: Buffer | null) =>
  changeOwnPicture({ ctx: as(actor), input: { picture: bytes?.toString("base64") ?? null } });
const hashOf = (url: string | null) => url?.split("/").at(-1) ?? "";
const see = (actor: Actor, url: string | null) => getPicture({ ctx: as(actor), input: { hash: hashOf(url) } });

test("ORG-4 a picture's kind and size are read from its bytes, in each encoding; nothing else passes for one", () => {
  expect(readImage(png(256, 128))).toEqual({ type: "image/png", width: 256, height: 128 });
  expect(readImage(jpeg)).toEqual({ type: "image/jpeg", width: 256, height: 200 });
  const lossy = webp("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, 0x00, 0x01, 0x80, 0x40]);
  expect(readImage(lossy)).toEqual({ type: "image/webp", width: 256, height: 128 });
  const lossless = webp("VP8L", [0x2f, 0xff, 0xc0, 0x1f, 0]);
  expect(readImage(lossless)).toEqual({ type: "image/webp", width: 256, height: 128 });
  const extended = webp("VP8X", [0, 0, 0, 0, 0xff, 0, 0, 0x7f, 0, 0]);
  expect(readImage(extended)).toEqual({ type: "image/webp", width: 256, height: 128 });
  const others = ["<svg xmlns='http://www.w3.org/2000/svg'/>", "GIF89a\x01\0\x01\0", "<html>", "", "RIFF"];
  for (const other of others) expect(readImage(Buffer.from(other))).toBeNull();
  for (const whole of [png(9, 9), jpeg, lossy, lossless, extended])
    for (let end = 0; end < 16; end++) expect([end, readImage(whole.subarray(0, end))]).toEqual([end, null]);
  // JPEG without a frame, and one that declares its segment to be endless.
  for (const bytes of [
    [0xff, 0xd8, 0xff, 0xd9],
    [0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff],
  ])
    expect(readImage(Buffer.from(bytes))).toBeNull();
});

test("ORG-4 ORG-10 people change and remove their own picture; its address changes with it, and what is too large or no picture is refused", async () => {
  const { id, actor } = await seedUser(database.db);
  const imageOf = async () => (await getProfile({ ctx: as(actor), input: { userId: id } })).profilePictureUrl;
  const first = await saveOwn(actor, png(256, 256, "first"));
  expect([first.pictureUrl, await imageOf()]).toEqual([first.pictureUrl, first.pictureUrl]);
  expect(await see(actor, first.pictureUrl)).toEqual({ contentType: "image/png", bytes: png(256, 256, "first") });
  const second = await saveOwn(actor, jpeg);
  expect((await see(actor, second.pictureUrl)).contentType).toBe("image/jpeg");
  expect(await refusalCode(see(actor, first.pictureUrl))).toBe("not_found");

  const problem = async (bytes: Buffer) => (await refusal(saveOwn(actor, bytes))).fields.picture;
  expect(await problem(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"))).toContain(
    "PNG, WebP or",
  );
  expect(await problem(png(257, 10))).toContain("at most 256 × 256 pixels");
  expect(await problem(png(0, 10))).toContain("at most 256 × 256 pixels");
  expect(await problem(Buffer.concat([png(9, 9), Buffer.alloc(100_000)]))).toContain("at most 100 kB");
  const words = changeOwnPicture({ ctx: as(actor), input: { picture: "no base64!" } });
  expect((await refusal(words)).fields.picture).toContain("not complete");
  expect(await imageOf()).toBe(second.pictureUrl);

  expect(await saveOwn(actor, null)).toEqual({ pictureUrl: null });
  expect(await imageOf()).toBeNull();
  expect(await refusalCode(see(actor, second.pictureUrl))).toBe("not_found");
  const entries = await database.db.select().from(auditLog).where(eq(auditLog.subject, id));
  expect(entries.map(({ action, detail }) => [action, detail])).toEqual([
    ["account.picture", { removed: false }],
    ["account.picture", { removed: false }],
    ["account.picture", { removed: true }],
  ]);
});

test("ORG-4 a picture is seen by its owner and their colleagues only, as long as they are colleagues", async () => {
  const org = await seedOrganization(database.db);
  const [viewer, stranger] = [await org.join("viewer"), await seedUser(database.db)];
  const owner = await org.join("owner");
  const { pictureUrl: own } = await saveOwn(owner, png(16, 16, "seen"));
  for (const actor of [owner, viewer]) expect((await see(actor, own)).contentType).toBe("image/png");
  const operator: Actor = { kind: "operator", ipAddress: null };
  expect(await refusalCode(see(stranger.actor, own))).toBe("not_found");
  expect(await refusalCode(see(operator, own))).toBe("forbidden");
  expect(await refusalCode(see(owner, "/api/pictures/' OR true --"))).toBe("not_found");
  expect(await refusalCode(saveOwn(operator, png(1, 1)))).toBe("forbidden");
  // The same bytes, of somebody else: not by guessing what others have.
  const theirs = await saveOwn(stranger.actor, png(16, 16, "seen"));
  expect(theirs.pictureUrl).toBe(own);
  await saveOwn(stranger.actor, null);
  expect((await see(viewer, own)).contentType).toBe("image/png");
  const viewerId = viewer.kind === "user" ? viewer.userId : "";
  await database.db.delete(member).where(and(eq(member.userId, viewerId), eq(member.organizationId, org.id)));
  expect(await refusalCode(see(viewer, own))).toBe("not_found");
});

test("ORG-4 ORG-10 admins change an organization's picture, members see it, and it goes with the organization; a person's goes with them", async () => {
  const org = await seedOrganization(database.db);
  const [admin, viewer, plain] = [await org.join("admin"), await org.join("viewer"), await org.join("member")];
  const { actor: stranger } = await seedUser(database.db);
  const save = (actor: Actor, bytes: Buffer | null) =>
    changeOrganizationPicture({
      ctx: as(actor),
      input: { orgSlug: org.slug, picture: bytes?.toString("base64") ?? null },
    });
  for (const actor of [viewer, plain, stranger]) expect(await refusalCode(save(actor, png(8, 8)))).toBe("forbidden");
  const { pictureUrl: shown } = await save(admin, png(8, 8, org.id));
  expect((await see(viewer, shown)).contentType).toBe("image/png");
  expect(await refusalCode(see(stranger, shown))).toBe("not_found");
  const userId = viewer.kind === "user" ? viewer.userId : "";
  const profile = await getProfile({ ctx: as(viewer), input: { userId } });
  expect(profile.organizations.map(({ pictureUrl }) => pictureUrl)).toEqual([shown]);
  const [entry] = await database.db.select().from(auditLog).where(eq(auditLog.organizationId, org.id));
  expect([entry?.action, entry?.detail]).toEqual(["organization.picture", { removed: false }]);
  await save(admin, null);
  const [row] = await database.db.select().from(organization).where(eq(organization.id, org.id));
  expect([row?.logo, await refusalCode(see(viewer, shown))]).toEqual([null, "not_found"]);

  await save(admin, png(8, 8, org.id));
  await deleteOrganization({ ctx: as(org.owner), input: { orgSlug: org.slug, confirmation: org.slug } });
  expect(await database.db.$count(picture, eq(picture.organizationId, org.id))).toBe(0);
  await saveOwn(viewer, png(8, 8, userId));
  await database.db.delete(user).where(eq(user.id, userId));
  expect(await database.db.$count(picture, eq(picture.userId, userId))).toBe(0);
});
