import { rmSync } from "node:fs";

// Loaded into a process of tests before its program: its standard input ends when the parent does, however that ends.
process.stdin.resume().once("end", () => {
  if (process.env.TOWPATH_DATA_DIR) rmSync(process.env.TOWPATH_DATA_DIR, { recursive: true, force: true });
  process.exit();
});
