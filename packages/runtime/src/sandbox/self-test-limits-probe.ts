// Runs inside a sandbox, started by self-test-limits.ts, and goes over its limits until it is ended from outside.
// Arguments: memory <bytes to fill in each of four processes> | processes <number of processes to start>
import { spawn } from "node:child_process";

const [attack, amount = "0"] = process.argv.slice(2);
const keepRunning = () => setInterval(() => {}, 1000);

if (attack === "memory") {
  for (let count = 0; count < 4; count += 1)
    spawn(process.execPath, ["--no-warnings", import.meta.filename, "fill", amount]).on("error", () => {});
  keepRunning();
} else if (attack === "fill") {
  const held = Buffer.alloc(Number(amount), 1);
  setInterval(() => held.fill(2), 1000);
} else {
  for (let count = 0; count < Number(amount); count += 1)
    spawn("/usr/bin/sleep", ["60"], { stdio: "ignore" }).on("error", () => {});
  // Until the quota of this period is used up, and again in the next ones.
  for (;;);
}
