import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { beginAttempt } from "./sign-in-throttle.ts";

const database = openTestDatabase();

const newEmail = () => `${randomUUID()}@example.com`;
const begin = (email: string, address: string | null) => beginAttempt(database.db, { email, address });

/** Lets all delays pass. */
const passTime = (interval: string) =>
  database.pool.query(
    "UPDATE sign_in_attempt SET retry_at = retry_at - $1::interval, updated_at = updated_at - $1::interval",
    [interval],
  );

test("AUTH-2 waits double with each failure, up to a maximum, and attempts during a wait do not extend it", async () => {
  const email = newEmail();
  const waits: number[] = [];
  for (let failure = 0; failure < 18; failure++) {
    expect(typeof (await begin(email, "192.0.2.1"))).toBe("object");
    const refused = await begin(email, "192.0.2.1");
    if (typeof refused !== "number") continue;
    waits.push(refused);
    expect(await begin(email, "192.0.2.1")).toBeLessThanOrEqual(refused);
    await passTime("15 minutes");
  }
  // 1, 2, 4, 8 s and so on from the start of the wait; a slow machine measures a little less.
  for (const [index, wait] of waits.slice(0, 9).entries()) {
    expect(wait).toBeLessThanOrEqual(2 ** index);
    if (index > 4) expect(wait).toBeGreaterThan(2 ** (index - 1));
  }
  expect(waits.at(-1)).toBeGreaterThan(600);
  expect(waits.at(-1)).toBeLessThanOrEqual(900);
  await passTime("25 hours");
  expect(typeof (await begin(email, "192.0.2.1"))).toBe("object");
  expect(typeof (await begin(email, "192.0.2.1"))).toBe("object");
});

test("AUTH-2 concurrent guesses get no more tries than sequential ones", async () => {
  const email = newEmail();
  const attempts = await Promise.all(Array.from({ length: 30 }, () => begin(email, "192.0.2.2")));
  expect(attempts.filter((attempt) => typeof attempt !== "number").length).toBe(5);
});

test("AUTH-2 an attacker at one address does not lock the owner out at another", async () => {
  const email = newEmail();
  for (let failure = 0; failure < 30; failure++) await begin(email, "203.0.113.9");
  const owner = await begin(email.toUpperCase(), "198.51.100.1");
  expect(typeof owner).toBe("object");
});

test("AUTH-2 attackers at many addresses make the owner wait for a minute at most, and not at all from an address with a session", async () => {
  const email = newEmail();
  const userId = randomUUID();
  const { pool } = database;
  await pool.query(`INSERT INTO "user" (id, name, email) VALUES ($1, 'U', $2)`, [userId, email]);
  await pool.query(
    "INSERT INTO session (id, user_id, token, expires_at, ip_address) VALUES ($1, $2, $1::uuid::text, now() + interval '1 day', '198.51.100.7')",
    [randomUUID(), userId],
  );
  for (let round = 0; round < 30; round++) {
    for (let part = 0; part < 4; part++) await begin(email, `203.0.113.${4 * round + part}`);
    await passTime("10 seconds");
  }
  const elsewhere = await begin(email, "198.51.100.1");
  expect(elsewhere).toBeGreaterThan(1);
  expect(elsewhere).toBeLessThanOrEqual(60);
  expect(typeof (await begin(email, "198.51.100.7"))).toBe("object");
});

test("AUTH-2 a correct password resets the address, and attempts whose password was not checked do not count", async () => {
  const email = newEmail();
  for (let round = 0; round < 40; round++) {
    const attempt = await begin(email, null);
    if (typeof attempt === "number") throw new Error("a withdrawn attempt has counted");
    if (round % 8 === 7) await attempt.succeeded();
    else if (round % 2 === 0) await attempt.withdrawn();
  }
});

test("AUTH-2 attempts whose password was never checked leave no rows behind, however many accounts they name", async () => {
  const rows = async () => (await database.pool.query("SELECT count(*)::int AS n FROM sign_in_attempt")).rows[0].n;
  const before = await rows();
  for (let count = 0; count < 5; count++) {
    const attempt = await begin(newEmail(), "192.0.2.44");
    if (typeof attempt === "number") throw new Error("a first attempt was refused");
    await attempt.withdrawn();
  }
  expect(await rows()).toBe(before);
  const waiting = newEmail();
  for (let part = 0; part < 20; part++) await begin(waiting, `203.0.113.${part}`);
  const known = await rows();
  expect(typeof (await begin(waiting, "192.0.2.45"))).toBe("number");
  expect(await rows()).toBe(known);
});
