// node attack.ts ENDPOINT SECONDS: all attacks of a tenant from outside on its own server and on the gateway, at once.
// In its own process, so that it doesn't slow down the measuring one.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { modernCall } from "../instance/modern-call.ts";

const [endpoint = "", seconds = "30"] = process.argv.slice(2);
const until = Date.now() + Number(seconds) * 1_000;
const { hostname, port } = new URL(endpoint);

const callOf = (name: string, args: Record<string, unknown>): RequestInit => ({
  ...modernCall(name, args, "attack"),
  signal: AbortSignal.timeout(Math.max(1, until - Date.now())),
});

/** Calls a tool until the time is over, also after errors. */
async function insist(name: string, args: Record<string, unknown>): Promise<void> {
  while (Date.now() < until) {
    await fetch(endpoint, callOf(name, args))
      .then((response) => response.arrayBuffer())
      .catch(() => sleep(50));
  }
}

/** Keeps a connection open that sends `text` and nothing more; opens it again when it is closed. */
async function occupy(text: string): Promise<void> {
  while (Date.now() < until) {
    await new Promise<void>((done) => {
      const socket = connect(Number(port), hostname === "localhost" ? "127.0.0.1" : hostname);
      const timer = setTimeout(() => socket.destroy(), until - Date.now());
      socket.on("connect", () => socket.write(text));
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(timer);
        done();
      });
    });
    await sleep(100);
  }
}

const unfinished =
  `POST ${new URL(endpoint).pathname} HTTP/1.1\r\nHost: ${new URL(endpoint).host}\r\n` +
  `Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n${"x".repeat(100_000)}`;
const times = (count: number, work: () => Promise<void>) => Array.from({ length: count }, work);
await Promise.all([
  ...times(2, () => insist("flood", { seconds: 5 })),
  ...times(2, () => insist("digits", { lines: 40 })),
  ...times(200, () => insist("hold", { seconds: 60 })),
  ...times(1_000, () => occupy("")),
  ...times(50, () => occupy(unfinished)),
]);
process.exit(0);
