import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

type Asked = { id: number; method: string; params: Record<string, unknown> };
type Task = { taskId: string; status: string; answers: unknown };

const number = 12345678901234567890n;

/**
 * A server of 2026-07-28 with tasks (SEP-2663), as far as a proxy sees them: each call of its tools creates
 * one, which waits for input, then ends with it. `stream` answers with events, `slow` after a second. `seen`: the ids that it was asked for.
 */
export function createTaskListener(seen: string[] = []): RequestListener {
  const tasks = new Map<string, Task>();
  const shown = ({ taskId, status }: Task) => {
    const at = "2026-07-28T00:00:00Z";
    return { taskId, status, createdAt: at, lastUpdatedAt: at, ttlMs: null };
  };
  const answer = ({ method, params }: Asked, name: string | undefined): object | null => {
    switch (method) {
      case "server/discover":
        return {
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
          ttlMs: 0,
          cacheScope: "private",
        };
      case "tools/list": {
        const tools = ["work", "stream", "slow"].map((tool) => ({ name: tool, inputSchema: { type: "object" } }));
        return { tools, ttlMs: 0, cacheScope: "private" };
      }
      case "tools/call": {
        const task = { taskId: randomUUID(), status: "input_required", answers: null };
        tasks.set(task.taskId, task);
        return { ...shown(task), resultType: "task" };
      }
    }
    const task = tasks.get(String(params.taskId));
    if (!method.startsWith("tasks/") || !task || name !== task.taskId) return null;
    seen.push(task.taskId);
    if (method === "tasks/cancel") task.status = "cancelled";
    if (method === "tasks/update") Object.assign(task, { status: "completed", answers: params.inputResponses });
    if (method !== "tasks/get") return {};
    const result = { content: [{ type: "text", text: JSON.stringify(task.answers) }], structuredContent: { number } };
    return { ...shown(task), ...(task.status === "completed" && { result }) };
  };
  return async (request, response) => {
    const asked = (await readJson(request)) as Asked;
    const { "mcp-name": name } = request.headers;
    const found = answer(asked, typeof name === "string" ? name : undefined);
    const outcome = found
      ? { result: { resultType: "complete", ...found } }
      : { error: { code: -32602, message: "Task not found" } };
    const text = JSON.stringify({ jsonrpc: "2.0", id: asked.id, ...outcome }, (_, value) =>
      typeof value === "bigint" ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(`${value}`) : value,
    );
    if (asked.method === "tools/call" && asked.params.name === "slow") await sleep(1000);
    const isStream = asked.method === "tools/call" && asked.params.name === "stream";
    const type = isStream ? "text/event-stream" : "application/json";
    response.writeHead(found ? 200 : 400, { "content-type": type });
    response.end(isStream ? `: ping\n\nevent: message\ndata: ${text}\n\n` : text);
  };
}
