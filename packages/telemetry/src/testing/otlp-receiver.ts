import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("otlp-receiver.main.ts", import.meta.url));

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly Attribute[];
};
type Received = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly Attribute[] };
      readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
    }[];
  };
};

/** A span as a collector gets it, with the values of its attributes, and the service that sent it. */
export type ReceivedSpan = Omit<OtlpSpan, "attributes"> & {
  readonly service: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
};

/** An OpenTelemetry collector in a process of its own, so that it can be killed. */
export type Collector = {
  readonly port: number;
  readonly received: readonly Received[];
  spans(): ReceivedSpan[];
  kill(): Promise<void>;
};

/** `port`: 0 for any. `status`: how it answers. */
export async function startCollector(port = 0, status = 200): Promise<Collector> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, String(port), String(status)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const [first] = await once(lines, "line");
  const received: Received[] = [];
  lines.on("line", (line) => received.push(JSON.parse(line)));
  const exited = once(child, "exit");
  return {
    port: Number(JSON.parse(String(first)).port),
    received,
    spans: () => received.flatMap(({ body }) => body.resourceSpans.flatMap(spansOf)),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function spansOf({ resource, scopeSpans }: Received["body"]["resourceSpans"][number]): ReceivedSpan[] {
  const service = valuesOf(resource.attributes)["service.name"];
  return scopeSpans.flatMap(({ spans }) =>
    spans.map((span) => ({ ...span, service, attributes: valuesOf(span.attributes) })),
  );
}

const valuesOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
