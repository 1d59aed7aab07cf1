import { randomUUID } from "node:crypto";
import pino from "pino";
import { expect, test } from "vitest";
import type { LoadRecordedAnswers } from "../read-model/recorded-answers.ts";
import type { Route } from "../read-model/routes.ts";
import { AnswerCache } from "./answer-cache.ts";

const log = pino({ level: "silent" });
const ids = Array.from({ length: 10 }, () => randomUUID());

function cacheOf(maxBytes: number) {
  const loads: string[][] = [];
  const load: LoadRecordedAnswers = async (deploymentIds) => {
    loads.push([...deploymentIds]);
    return deploymentIds.map((deploymentId) => ({
      deploymentId,
      answers: { texts: [deploymentId], conversations: [] },
      bytes: 100,
    }));
  };
  return { cache: new AnswerCache({ load, log, maxBytes }), loads };
}

const routesTo = (deployments: readonly string[]) =>
  deployments.map(
    (deploymentId) => ({ answersAsleep: true, target: { kind: "deployment", deploymentId } }) as unknown as Route,
  );

test("GW-12 recorded answers are loaded with the routes, once, and take no more memory than they may", async () => {
  const { cache, loads } = cacheOf(500);
  await cache.loadAhead(routesTo(ids));
  await cache.loadAhead(routesTo(ids));
  expect(loads).toEqual([ids]);
  expect(cache.bytes).toBe(500);
  // Evicted answers are loaded on demand, by one query for all concurrent calls.
  const asked = await Promise.all([cache.of(ids[0] ?? ""), cache.of(ids[0] ?? "")]);
  expect(asked).toEqual([expect.objectContaining({ texts: [ids[0]] }), expect.objectContaining({ texts: [ids[0]] })]);
  expect(loads.slice(1)).toEqual([[ids[0]]]);
  expect(cache.bytes).toBe(500);
});

test("GW-12 missing answers, and those that cannot be loaded in time, are null", async () => {
  const cache = (load: LoadRecordedAnswers) => new AnswerCache({ load, log });
  expect(await cache(async () => []).of("a")).toBeNull();
  expect(await cache(() => Promise.reject(new Error("unavailable"))).of("a")).toBeNull();
  expect(await cache(() => new Promise(() => {})).of("a")).toBeNull();
  const failing = cache(() => Promise.reject(new Error("unavailable")));
  await expect(failing.loadAhead(routesTo(ids))).resolves.toBeUndefined();
});
