import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { createMcpListener } from "./mcp-server.ts";

// node server-process.main.ts SOCKET RUNS [BACKLOG]: serves MCP on a unix socket. The tool `die` appends a line to the
// file RUNS and kills the process a moment later. SIGUSR2 stops the process from accepting for half a second.
const [socketPath = "", runsFile = "", backlog = "511"] = process.argv.slice(2);
const listener = createMcpListener({
  json: true,
  onDie() {
    appendFileSync(runsFile, "ran\n");
    setTimeout(() => process.kill(process.pid, "SIGKILL"), 100);
  },
});
process.on("SIGUSR2", () => {
  process.stdout.write("busy\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
});
createServer({ requireHostHeader: false }, listener).listen({ path: socketPath, backlog: Number(backlog) }, () => {
  process.stdout.write("ready\n");
});
