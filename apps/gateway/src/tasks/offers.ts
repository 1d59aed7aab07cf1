import type { Message } from "../portal/messages-in.ts";
import { tasksCapability, tasksExtension } from "../portal/tasks.ts";
import { firstVersionWithTasks, type TaskEra } from "./task-era.ts";

/** Changes a JSON-RPC answer on its way. Returns whether it did. */
export type ChangeAnswer = (message: Message) => boolean;

/** Adds tasks to the capabilities of a server that has none. `learn`: whether it has. */
export const addCapability =
  (era: TaskEra, learn: (isOwn: boolean) => void): ChangeAnswer =>
  ({ result }) => {
    if (!isObject(result) || !isObject(result.capabilities)) return false;
    const { capabilities } = result;
    if (era === "legacy" && !(String(result.protocolVersion) >= firstVersionWithTasks)) return false;
    const { extensions = {} } = capabilities;
    const isOwn =
      era === "legacy"
        ? capabilities.tasks !== undefined
        : isObject(extensions) && extensions[tasksExtension] !== undefined;
    learn(isOwn);
    if (isOwn || capabilities.tools === undefined || !isObject(extensions)) return false;
    if (era === "legacy") capabilities.tasks = tasksCapability;
    else capabilities.extensions = { ...extensions, [tasksExtension]: {} };
    return true;
  };

/** Says of each tool that it may be called as a task. */
export const addTaskSupport: ChangeAnswer = ({ result }) => {
  if (!isObject(result) || !Array.isArray(result.tools)) return false;
  for (const tool of result.tools.filter(isObject)) {
    const execution = isObject(tool.execution) ? tool.execution : {};
    tool.execution = { ...execution, taskSupport: "optional" };
  }
  return true;
};

const isObject = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && !Array.isArray(value);
