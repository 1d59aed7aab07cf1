import { expect, test } from "vitest";
import { stackOf } from "./stack-dump.ts";

const header = JSON.stringify({ main: "0x00007f01", root: "/app/src" });
const frame = (path: string, line: number, name: string) => `  File "${path}", line ${line} in ${name}`;
const library = "/app/.venv/lib/python3.12/site-packages";
const python = "/opt/python/lib/python3.12";
const ours = frame("/opt/towpath/towpath_runner/main.py", 90, "main");

test("BLD-2 the stack of a late start begins at the owner's innermost call, then shows its callees", () => {
  const dump = [
    header,
    "Thread 0x00007f02 (most recent call first):",
    frame("/app/src/other.py", 1, "in_a_thread"),
    "Current thread 0x00007f01 (most recent call first):",
    frame(`${python}/socket.py`, 836, "create_connection"),
    frame(`${library}/requests/api.py`, 59, "request"),
    frame("/app/src/shop/client.py", 12, "connect"),
    frame("<frozen importlib._bootstrap>", 241, "_call_with_frames_removed"),
    frame("/app/src/server.py", 4, "<module>"),
    ours,
    "end",
  ].join("\n");
  expect(stackOf(dump)).toEqual([
    { file: "shop/client.py", line: 12, name: "connect", isOwn: true },
    { file: "requests/api.py", line: 59, name: "request", isOwn: false },
    { file: "socket.py", line: 836, name: "create_connection", isOwn: false },
  ]);
});

test("BLD-2 where the main thread only runs an event loop, the task with the owner's code counts", () => {
  const dump = [
    header,
    "Current thread 0x00007f01 (most recent call first):",
    frame(`${python}/selectors.py`, 468, "select"),
    frame("/app/src/server.py", 30, "<module>"),
    "Task (most recent call first):",
    frame(`${library}/uvicorn/server.py`, 70, "serve"),
    "Task (most recent call first):",
    frame(`${python}/asyncio/tasks.py`, 665, "sleep"),
    frame("/app/src/server.py", 9, "lifespan"),
  ].join("\n");
  expect(stackOf(dump)[0]).toEqual({ file: "server.py", line: 9, name: "lifespan", isOwn: true });
});

test("BLD-2 a dump that the server wrote itself, or that breaks off, is no error", () => {
  expect(stackOf("")).toEqual([]);
  expect(stackOf("nonsense\n  File")).toEqual([]);
  expect(stackOf(`${header}\nThread 0x1 (most recent call first):\n${frame("/x/y.py", 3, "f")}\n  File "/app`)).toEqual(
    [{ file: "/x/y.py", line: 3, name: "f", isOwn: false }],
  );
});
