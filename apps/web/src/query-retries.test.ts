import { QueryClient } from "@tanstack/react-query";
import { notFound, redirect } from "@tanstack/react-router";
import { TowpathError } from "@towpath/core/errors";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { queryRetries } from "./query-retries.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** When a query that always fails with `error` is tried, in seconds. */
async function attemptsOf(error: unknown): Promise<readonly number[]> {
  const start = Date.now();
  const times: number[] = [];
  const client = new QueryClient({ defaultOptions: { queries: queryRetries } });
  const ended = client
    .fetchQuery({
      queryKey: ["failing"],
      ...queryRetries,
      queryFn: () => {
        times.push((Date.now() - start) / 1000);
        throw error;
      },
    })
    .catch(() => {});
  await vi.advanceTimersByTimeAsync(120_000);
  await ended;
  return times;
}

test("UI-3 a failed query is tried three more times, after 1, 2 and 4 seconds", async () => {
  expect(await attemptsOf(new TypeError("Failed to fetch"))).toEqual([0, 1, 3, 7]);
  expect(await attemptsOf(new TowpathError("internal", "Something failed."))).toEqual([0, 1, 3, 7]);
});

test("UI-3 permanent failures are not retried", async () => {
  expect(await attemptsOf(new TowpathError("not_found", "Not Found: there is no such server."))).toEqual([0]);
  expect(await attemptsOf(new TowpathError("invalid_input", "Wrong."))).toEqual([0]);
  expect(await attemptsOf(redirect({ to: "/account" }))).toEqual([0]);
  expect(await attemptsOf(notFound())).toEqual([0]);
});

test("UI-3 the pause doubles and is never longer than 30 seconds", () => {
  expect([0, 1, 2, 3, 4, 5, 20].map(queryRetries.retryDelay)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});
