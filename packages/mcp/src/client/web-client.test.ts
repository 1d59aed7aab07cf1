import { afterEach, expect, test } from "vitest";
import { type Talker, talker } from "./testing/index.ts";
import { type LogMessage, type McpClient, type OpenOptions, openWebClient } from "./web-client.ts";

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) await each.close();
});

async function open(
  era: "modern" | "legacy",
  options: OpenOptions = {},
): Promise<{ server: Talker; client: McpClient }> {
  const server = await talker(era);
  running.push(server);
  const client = await openWebClient({ url: new URL(server.url), fetch }, { ...options, maxBytes: 1_000_000 });
  running.push(client);
  return { server, client };
}

const textOf = ({ result }: { readonly result: unknown }) => JSON.stringify(result);

test.each(["modern", "legacy"] as const)(
  "PRJ-4 %s: progress and log messages come while the call runs",
  async (era) => {
    const logs: LogMessage[] = [];
    const { client } = await open(era, { onLog: (message) => logs.push(message) });
    const progress: unknown[] = [];
    const outcome = await client.callTool("work", { steps: 2 }, { onProgress: (each) => progress.push(each) });
    expect(textOf(outcome)).toContain("**done** after 2");
    expect(progress).toEqual([
      { progress: 1, total: 2, message: "step 1" },
      { progress: 2, total: 2, message: "step 2" },
    ]);
    expect(logs).toEqual([1, 2].map((step) => ({ level: "info", logger: "worker", data: { step } })));
  },
);

test.each(["modern", "legacy"] as const)(
  "PRJ-4 %s: a server's questions to the person and to a model are answered",
  async (era) => {
    const asked: unknown[] = [];
    const { client } = await open(era, {
      onElicit: async (question) => {
        asked.push(question.message);
        return { action: "accept", content: { seats: 4 } };
      },
      onSample: async (question) => {
        asked.push(question);
        return { text: "green", model: "a person" };
      },
    });
    const onProgress = () => expect.unreachable("the server reports none");
    expect(textOf(await client.callTool("book", {}, { onProgress }))).toContain("booked 4");
    expect(textOf(await client.callTool("paint", {}))).toContain("painted green as a person says");
    expect(asked).toEqual([
      "How many seats?",
      {
        messages: [{ role: "user", content: { type: "text", text: "Name a colour." } }],
        systemPrompt: null,
        maxTokens: 50,
      },
    ]);
  },
);

test.each(["modern", "legacy"] as const)(
  "PRJ-4 %s: a model's answer that isn't allowed fails the call, not the connection",
  async (era) => {
    const { client } = await open(era, { onSample: async () => null });
    const outcome = await client.callTool("paint", {}).then(textOf, (error: Error) => error.message);
    expect(outcome).toContain("The person didn't allow it.");
    expect(textOf(await client.callTool("work", { steps: 1 }))).toContain("done");
  },
);

test.each(["modern", "legacy"] as const)(
  "PRJ-4 %s: each message is seen, in both directions and in order",
  async (era) => {
    const seen: string[] = [];
    const { client } = await open(era, {
      onMessage: (message, direction) => {
        seen.push(`${direction} ${"method" in message ? message.method : "answer"}`);
      },
    });
    await client.callTool("work", { steps: 1 });
    const expected =
      era === "modern"
        ? ["sent server/discover", "received answer", "sent tools/call", "received answer"]
        : [
            "sent initialize",
            "received answer",
            "sent notifications/initialized",
            // This server logs without being asked to.
            "sent tools/call",
            "received notifications/message",
            "received answer",
          ];
    expect(seen.slice(-expected.length)).toEqual(expected);
  },
);

test("PRJ-4 values of arguments are suggested by servers that can, and by others none", async () => {
  const { client } = await open("modern");
  const argument = { name: "name", value: "O" };
  expect(await client.complete({ template: "city://{name}" }, argument)).toEqual(["Oslo", "Oxford"]);
  expect(await client.complete({ prompt: "visit" }, { name: "city", value: "P" })).toEqual(["Paris"]);
  const other = await open("legacy");
  expect(await other.client.complete({ prompt: "visit" }, argument)).toEqual([]);
});
