import { expect, test } from "vitest";
import { Bucket, lower, type Rate } from "./index.ts";

const rate: Rate = { perMinute: 60, burst: 5 };

/** Makes calls at these times in milliseconds. Returns how many were admitted. */
function admitted(bucket: Bucket, times: Iterable<number>, own = rate): number {
  let count = 0;
  for (const now of times) {
    if (bucket.waitFor(1, own, now) > 0) continue;
    bucket.take(1, own, now);
    count++;
  }
  return count;
}

test("GW-8 a bucket lets a burst in at once, then one call per interval", () => {
  const bucket = new Bucket();
  expect(admitted(bucket, Array(20).fill(1000))).toBe(5);
  expect(bucket.waitFor(1, rate, 1000)).toBeCloseTo(1000);
  expect(bucket.waitFor(3, rate, 1000)).toBeCloseTo(3000);
  expect(admitted(bucket, [1999, 2000, 2001, 3000, 3000])).toBe(2);
  // Full again after a pause, not fuller.
  expect(admitted(bucket, Array(20).fill(600_000))).toBe(5);
});

test("GW-8 any period admits at most a burst plus the rate, and no less to a constant caller", () => {
  for (const own of [rate, { perMinute: 7, burst: 1 }, { perMinute: 6000, burst: 40 }]) {
    const bucket = new Bucket();
    const endMs = 300_000;
    const times = Array.from({ length: endMs / 5 }, (_, at) => at * 5);
    const count = admitted(bucket, times, own);
    const most = own.burst + (own.perMinute * endMs) / 60_000;
    expect(count).toBeLessThanOrEqual(most);
    expect(count).toBeGreaterThan(most * 0.95 - 1);
  }
});

test("GW-8 a call is admitted after the bucket's wait, and not before", () => {
  const bucket = new Bucket();
  let now = 0;
  for (let at = 0; at < 500; at++) {
    const calls = 1 + (at % 7);
    const wait = bucket.waitFor(calls, rate, now);
    if (wait > 0) expect(bucket.waitFor(calls, rate, now + wait * 0.99)).toBeGreaterThan(0);
    now += wait;
    expect(bucket.waitFor(calls, rate, now)).toBe(0);
    bucket.take(calls, rate, now);
  }
});

test("GW-8 a batch that is larger than a burst fits into a full bucket, and is paid for", () => {
  const bucket = new Bucket();
  expect(bucket.waitFor(50, rate, 0)).toBe(0);
  bucket.take(50, rate, 0);
  expect(bucket.waitFor(1, rate, 0)).toBeCloseTo(46_000);
});

test("GW-8 calls taken from a copy count here too", () => {
  const [here, there] = [new Bucket(), new Bucket()];
  here.delay(there.take(4, rate, 0), 0);
  expect(admitted(here, Array(20).fill(0))).toBe(1);
});

test("GW-8 of two limits the lower numbers hold", () => {
  expect(lower(null, null)).toBeNull();
  expect([lower(rate, null), lower(null, rate)]).toEqual([rate, rate]);
  expect(lower(rate, { perMinute: 10, burst: 10 })).toEqual({ perMinute: 10, burst: 5 });
});
