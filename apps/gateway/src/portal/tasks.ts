import { type Message, parsedMessage } from "./messages-in.ts";

/**
 * Calls that continue after their answer, in 2026-07-28. A server decides for each call of a client that declares it.
 */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** What a server that offers tasks for all of its tools says in 2025-11-25. */
export const tasksCapability = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

const methods: ReadonlySet<string> = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

type Asked = { readonly method: string; readonly params: Readonly<Record<string, unknown>> };

export function declaresTasks(params: Asked["params"]): boolean {
  const capabilities = member(member(params, "_meta"), "io.modelcontextprotocol/clientCapabilities");
  return member(member(capabilities, "extensions"), tasksExtension) !== undefined;
}

export const isTaskMethod = (method: string): boolean => methods.has(method);

/** Whether only a client that declares the extension can use a request. */
export function asksOfTasks({ method, params }: Asked): boolean {
  if (isTaskMethod(method)) return true;
  return method === "subscriptions/listen" && member(params.notifications, "taskIds") !== undefined;
}

/** Whether an answer can name a task. */
export const mayNameTask = ({ method, params }: Asked): boolean =>
  isTaskMethod(method) || (method === "tools/call" && declaresTasks(params));

/** A server's answer with the client's id for the task. Null: it names none, and passes as it is. @throws as `idOf` */
export function withTaskId(text: string, idOf: (taskId: string) => string): Message | null {
  if (!text.includes("taskId")) return null;
  const message = parsedMessage(text);
  const taskId = member(message?.result, "taskId");
  if (!message || typeof taskId !== "string") return null;
  return { ...message, result: { ...(message.result as Message), taskId: idOf(taskId) } };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
