import { sha256 } from "@towpath/crypto";
import type { Database, Transaction } from "@towpath/db";
import { member, organization, picture, user } from "@towpath/db/schema";
import { and, eq, inArray, or } from "drizzle-orm";
import { TowpathError } from "../../errors/index.ts";
import { newId } from "../../ids/index.ts";
import { type ImageType, readImage } from "./image-bytes.ts";
import { pictureMaxBytes, pictureSize } from "./picture.schema.ts";

/** Whose a picture is. */
type Owner = { readonly userId: string } | { readonly organizationId: string };

type CheckedPicture = { readonly hash: string; readonly contentType: ImageType; readonly bytes: Buffer };

/** Where a picture is served. A changed picture has another address, so that browsers keep what they have. */
export const pictureUrl = (hash: string): string => `/api/pictures/${hash}`;

/**
 * A picture by its bytes; a file's name and declared type say nothing.
 *
 * @throws TowpathError `invalid_input` for anything but a small PNG, WebP or JPEG of at most 256 × 256 pixels
 */
export function checkedPicture(base64: string): CheckedPicture {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > pictureMaxBytes) throw unusable("The picture is too large: at most 100 kB");
  const image = readImage(bytes);
  if (!image) throw unusable("Choose a PNG, WebP or JPEG picture");
  const { width, height, type } = image;
  if (width < 1 || height < 1 || width > pictureSize || height > pictureSize)
    throw unusable(`The picture must be at most ${pictureSize} × ${pictureSize} pixels`);
  return { hash: sha256(bytes), contentType: type, bytes };
}

const unusable = (text: string) => new TowpathError("invalid_input", text, { fields: { picture: text } });

/** Stores an owner's picture in place of the one before, or removes it. */
export async function storePicture(
  tx: Transaction,
  owner: Owner,
  checked: CheckedPicture | null,
  now: Date,
): Promise<void> {
  const own = "userId" in owner ? eq(picture.userId, owner.userId) : eq(picture.organizationId, owner.organizationId);
  const url = checked && pictureUrl(checked.hash);
  // First, because it locks the owner: of two changes at once, one waits for the other.
  if ("userId" in owner) await tx.update(user).set({ image: url, updatedAt: now }).where(eq(user.id, owner.userId));
  else await tx.update(organization).set({ logo: url }).where(eq(organization.id, owner.organizationId));
  await tx.delete(picture).where(own);
  if (checked) await tx.insert(picture).values({ id: newId(), ...owner, ...checked, createdAt: now });
}

/** A picture by its hash, if it is one that this person may see: their own, their organizations', their colleagues'. */
export async function findPicture(db: Database, userId: string, hash: string) {
  const organizations = db.select({ id: member.organizationId }).from(member).where(eq(member.userId, userId));
  const colleagues = db.select({ id: member.userId }).from(member).where(inArray(member.organizationId, organizations));
  const [row] = await db
    .select({ contentType: picture.contentType, bytes: picture.bytes })
    .from(picture)
    .where(
      and(
        eq(picture.hash, hash),
        or(
          eq(picture.userId, userId),
          inArray(picture.userId, colleagues),
          inArray(picture.organizationId, organizations),
        ),
      ),
    )
    .limit(1);
  return row;
}
