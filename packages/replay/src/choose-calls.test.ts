import { expect, test } from "vitest";
import { chooseCalls } from "./choose-calls.ts";

test("CAP-4 a sample is spread over tools, then over shapes of arguments, newest first, without repeats", () => {
  const call = (tool: string, values: Record<string, string | boolean | number>, at: number) => ({
    id: `${tool}-${at}`,
    tool,
    arguments: values,
    at,
  });
  const candidates = [
    ...Array.from({ length: 50 }, (_, at) => call("busy", { text: `t${at}` }, at)),
    call("busy", { text: "t49" }, 40.5),
    call("busy", { text: "old", page: 2 }, 1),
    call("busy", { text: "x", exact: true }, 3),
    call("busy", { text: "y", exact: false }, 2),
    call("rare", { id: 1 }, 5),
  ];
  const chosen = chooseCalls(candidates, 7).map(({ id }) => id);
  expect(chosen).toEqual(["busy-49", "rare-5", "busy-3", "busy-2", "busy-1", "busy-48", "busy-47"]);
  expect(chooseCalls(candidates, 1000)).toHaveLength(54);
  expect(chooseCalls(candidates, 0)).toEqual([]);
});
