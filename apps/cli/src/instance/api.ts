import { z } from "zod";
import { Refusal } from "../terminal/terminal.ts";
import { connect } from "./instance.ts";

const errorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), fields: z.record(z.string(), z.string()).optional() }),
});

/** Calls of a running instance's REST API with the operator token. */
export type Api = {
  readonly serversUrl: string;
  /** @throws Refusal with the instance's own words when it says no. */
  call<Output>(method: "GET" | "POST", path: string, schema: z.ZodType<Output>, body?: unknown): Promise<Output>;
  /** Server-sent events of a path, one by one, until the stream ends. */
  events(path: string): AsyncGenerator<{ readonly event: string; readonly data: string }>;
};

async function refusalOf(response: Response): Promise<Refusal> {
  const text = await response.text();
  const parsed = errorSchema.safeParse(text.startsWith("{") ? JSON.parse(text) : null);
  if (!parsed.success) return new Refusal(`The instance answered with HTTP ${response.status}: ${text.slice(0, 500)}`);
  const fields = Object.entries(parsed.data.error.fields ?? {}).filter(
    ([, problem]) => problem !== parsed.data.error.message,
  );
  return new Refusal(
    [parsed.data.error.message, ...fields.map(([field, problem]) => `  ${field}: ${problem}`)].join("\n"),
  );
}

export function openApi(dataDirectory: string): Api {
  const instance = connect(dataDirectory);
  const request = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const response = await fetch(`${instance.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${instance.token}`,
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    }).catch((error: unknown) => {
      throw new Refusal(
        `The instance at ${instance.url} does not answer. Is ./towpath up still running?\n  (${error})`,
      );
    });
    if (!response.ok) throw await refusalOf(response);
    return response;
  };
  return {
    serversUrl: instance.serversUrl,
    call: async (method, path, schema, body) =>
      schema.parse(await (await request(method, path, { accept: "application/json" }, body)).json()),
    events: async function* (path) {
      const response = await request("GET", path, { accept: "text/event-stream" });
      if (response.body) yield* parseEvents(response.body);
    },
  };
}

/** Server-sent events (WHATWG HTML, section 9.2): only `event` and `data` matter here. */
export async function* parseEvents(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<{ readonly event: string; readonly data: string }> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = block.split(/\r?\n/).map((line) => /^(\w+): ?(.*)$/.exec(line));
      const valuesOf = (name: string) => fields.filter((field) => field?.[1] === name).map((field) => field?.[2] ?? "");
      const data = valuesOf("data");
      if (data.length > 0) yield { event: valuesOf("event")[0] ?? "message", data: data.join("\n") };
    }
  }
}
