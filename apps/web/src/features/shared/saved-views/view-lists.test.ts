import { expect, test } from "vitest";
import { errorSearchParameters } from "~/features/project/errors/error-search.ts";
import { logSearchParameters } from "~/features/project/request-log/log-filters.ts";
import { appliedSearch, droppedFilters, isSameSearch, savableSearch } from "./view-lists.ts";

test("CAP-7 a view saves filters, order and time range, and nothing of what is open", () => {
  const search = { status: "error", from: undefined, protocol: true, request: "r1", selected: "a", page: 3, at: 9 };
  expect(savableSearch(search)).toEqual({ status: "error", protocol: true });
});

test("CAP-7 a list shows a view while it has exactly the filters of it that apply", () => {
  const isShown = (search: Record<string, string>, current: Record<string, string>) =>
    isSameSearch(logSearchParameters, search, current);
  const view = { status: "error", timeRange: "7d", shape: "round" };
  expect(isShown(view, { timeRange: "7d", status: "error" })).toBe(true);
  expect(isShown({ status: "error", timeRange: "24h" }, { status: "error" })).toBe(true);
  expect(isShown(view, { status: "error", timeRange: "1h" })).toBe(false);
  expect(isShown(view, { status: "error", timeRange: "7d", client: "x" })).toBe(false);
  expect(isShown(view, {})).toBe(false);
  expect(isShown({}, {})).toBe(true);
});

test("CAP-7 filters of a view that are gone, or that the page no longer knows, are named and left out", () => {
  const view = { search: { sort: "count", state: "bogus", shape: "round" }, missing: { branch: "gusts" } };
  expect(droppedFilters(errorSearchParameters, view)).toEqual(["branch: gusts", "state: bogus", "shape: round"]);
  expect(appliedSearch(errorSearchParameters, view.search)).toEqual({ sort: "count" });
  expect(droppedFilters(errorSearchParameters, { search: { sort: "count" }, missing: {} })).toEqual([]);
  // Nothing is left: the list opens as it is, and the router has no reason to open its default view again.
  expect(appliedSearch(errorSearchParameters, { state: "open", shape: "round" })).toEqual({});
});
