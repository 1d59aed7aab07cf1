import { twoFactor, user } from "@towpath/db/schema";
import { openTestDatabase } from "@towpath/db/testing";
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { authSecrets, reencryptTwoFactors } from "./secrets.ts";

const database = openTestDatabase();

const [first, second] = ["the first secret of these tests, long", "the second secret of these tests, long"];

/** Better-auth's reading and writing with these secrets. */
function keyOf(current: string, previous: readonly string[] = []) {
  const { secrets } = authSecrets({ current, previous });
  const keys = new Map(secrets.map(({ version, value }) => [version, value]));
  return { keys, currentVersion: secrets[0]?.version ?? -1 };
}

test("KEY-2 ORG-7 second factors are read while the secret is replaced, and afterwards with the new one alone", async () => {
  const [userId, id] = [crypto.randomUUID(), crypto.randomUUID()];
  await database.db.insert(user).values({ id: userId, name: "Ada", email: "ada@example.com" });
  const sealed = async (data: string) => symmetricEncrypt({ key: keyOf(first), data });
  await database.db
    .insert(twoFactor)
    .values({ id, userId, secret: await sealed("JBSWY3DP"), backupCodes: await sealed('["a1B2c-D3e4F"]') });
  const read = async (key: ReturnType<typeof keyOf>) => {
    const [row] = await database.db.select().from(twoFactor).where(eq(twoFactor.id, id));
    const open = (data = "") => symmetricDecrypt({ key, data });
    return [await open(row?.secret), await open(row?.backupCodes)];
  };
  const texts = ["JBSWY3DP", '["a1B2c-D3e4F"]'];
  await expect(read(keyOf(second))).rejects.toThrow();
  expect(await read(keyOf(second, [first]))).toEqual(texts);
  expect(await reencryptTwoFactors(database.db, { current: second, previous: [first] })).toBe(1);
  expect(await read(keyOf(second))).toEqual(texts);
  expect(await reencryptTwoFactors(database.db, { current: second, previous: [first] })).toBe(0);
  expect(parseEnvelope(await sealed("x"))?.version).toBe(keyOf(first).currentVersion);
});
