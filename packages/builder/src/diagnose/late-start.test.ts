import type { LateStart } from "@towpath/runtime";
import { expect, test } from "vitest";
import { diagnoseLateStart } from "./late-start.ts";

const stack = [
  { file: "shop/client.py", line: 12, name: "connect", isOwn: true },
  { file: "socket.py", line: 836, name: "create_connection", isOwn: false },
];
const late = (activity: LateStart["activity"], more: Partial<LateStart> = {}) =>
  diagnoseLateStart({ activity, afterMs: 60_000, processorMs: 900, stack, ...more }, 60_000, {
    file: "server.py",
    excerpt: "loading",
  });

test("BLD-2 a start that waits names the current line of its own code, and its callees", () => {
  const found = late("waiting");
  expect(found).toMatchObject({
    title: "The server did not start in time",
    file: "shop/client.py",
    line: 12,
    action: { kind: "code" },
    excerpt: 'File "shop/client.py", line 12, in connect\nFile "socket.py", line 836, in create_connection\n\nloading',
  });
  expect(found.detail).toContain("It was at `shop/client.py` line 12, in `connect` after 60 seconds.");
  expect(found.detail).toContain("0.9 s of processor time, though there was more, so it waits");
  expect(found.remedy).toContain("shop/client.py line 12");
});

test("BLD-2 a start that burned its processor time loops; one that a busy host starved is not blamed, and Rebuild helps", () => {
  expect(late("busy", { processorMs: 58_000 }).detail).toContain(
    "used 58.0 s of processor time, so it computes or loops",
  );
  const starved = late("starved", { afterMs: 180_000 });
  expect(starved).toMatchObject({
    title: "The host was too busy to start the server in time",
    action: { kind: "rebuild" },
    remedy: expect.stringMatching(/^Rebuild when the host is less busy/),
  });
  expect(starved.detail).toContain("after 180 seconds");
  expect(starved.detail).not.toMatch(/waits for|loops/);
});

test("BLD-2 where nothing is known of a late start, the entrypoint's file is named", () => {
  const found = diagnoseLateStart(null, 60_000, { file: "server.py", excerpt: null });
  expect(found).toMatchObject({ file: "server.py", line: null, excerpt: null });
  expect(found.detail).toBe("server.py was still being loaded after 60 seconds. It printed nothing.");
});
