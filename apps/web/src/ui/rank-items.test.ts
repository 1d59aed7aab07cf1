import { expect, test } from "vitest";
import { rankItems } from "./rank-items.ts";

const item = (label: string, keywords: readonly string[] = []) => ({ id: label, label, keywords });
const groups = [
  { label: "Servers", items: [item("brave-teal-otter"), item("weather-logs"), item("echo-server")] },
  { label: "Pages", items: [item("Logs", ["requests"]), item("Deployments", ["builds"])] },
];
const found = (query: string) => rankItems(groups, query).flatMap(({ items }) => items.map(({ label }) => label));

test("UI-4 a list without a query is whole and in its own order", () => {
  expect(found("  ")).toEqual(["brave-teal-otter", "weather-logs", "echo-server", "Logs", "Deployments"]);
});

test("UI-4 the best match comes first: whole label, beginning, beginning of a word, within a word, letters in order", () => {
  expect(found("logs")).toEqual(["Logs", "weather-logs"]);
  expect(found("otter")).toEqual(["brave-teal-otter"]);
  expect(found("bto")).toEqual(["brave-teal-otter"]);
  expect(found("ploy")).toEqual(["Deployments"]);
});

test("UI-4 other words and the group's name find an entry too, and each typed word must be found", () => {
  expect(found("requests")).toEqual(["Logs"]);
  expect(found("servers echo")).toEqual(["echo-server"]);
  expect(found("echo nothing")).toEqual([]);
});

test("UI-4 a long group lists only the best fifty", () => {
  const many = [{ label: "Servers", items: Array.from({ length: 500 }, (_, at) => item(`server-${at}`)) }];
  expect(rankItems(many, "")[0]?.items).toHaveLength(50);
  expect(rankItems(many, "server-499")[0]?.items[0]?.label).toBe("server-499");
});
