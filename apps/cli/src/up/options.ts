import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { resolveDataDirectory } from "../instance/instance.ts";
import { Refusal } from "../terminal/terminal.ts";

export type UpOptions = {
  readonly dataDirectory: string;
  /** Short enough for unix sockets below it (sun_path holds 107 bytes). */
  readonly runDirectory: string;
  readonly port: number;
  readonly gatewayPort: number;
  readonly forgePort: number;
};

function port(name: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > 65535) {
    throw new Refusal(`--${name} must be a port between 1 and 65535, not ${value}.`);
  }
  return number;
}

/** Sockets live in the data folder, or below the temporary folder when its path is too long for them. */
function runDirectoryOf(dataDirectory: string): string {
  const inside = join(dataDirectory, "run");
  const longestSocketBelow = "/i/0123456789ab/status.json.tmp".length;
  if (Buffer.byteLength(inside) + longestSocketBelow <= 100) return inside;
  const name = createHash("sha256").update(dataDirectory).digest("hex").slice(0, 12);
  return join(tmpdir(), `towpath-${process.getuid?.() ?? 0}-${name}`);
}

/** @throws Refusal naming the option that is wrong. */
export function parseUpOptions(args: string[]): UpOptions {
  const { values } = parseArgs({
    args,
    options: {
      "data-dir": { type: "string" },
      port: { type: "string", default: "3000" },
      "gateway-port": { type: "string", default: "8080" },
      "forge-port": { type: "string", default: "8090" },
    },
  });
  const dataDirectory = resolveDataDirectory(values["data-dir"]);
  const ports = {
    port: port("port", values.port),
    gatewayPort: port("gateway-port", values["gateway-port"]),
    forgePort: port("forge-port", values["forge-port"]),
  };
  if (new Set(Object.values(ports)).size !== 3) {
    throw new Refusal("--port, --gateway-port and --forge-port must differ from one another.");
  }
  return { dataDirectory, runDirectory: runDirectoryOf(dataDirectory), ...ports };
}
