import { randomFillSync } from "node:crypto";

const pool = Buffer.alloc(4096);
let used = pool.length;

/** A UUIDv7 (RFC 9562 §5.7): milliseconds since the epoch, then random bits taken from a pool. */
export function newRowId(timeMs: number): string {
  if (used + 10 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.toString("hex", used, used + 10);
  used += 10;
  const time = Math.floor(timeMs).toString(16).padStart(12, "0");
  const variant = "89ab".charAt(Number.parseInt(random.charAt(3), 16) & 3);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
