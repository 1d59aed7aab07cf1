import type { StackFrame } from "../../port/servers.ts";
import { storableText } from "../process/lines.ts";
import { readBounded } from "./harness-status.ts";

/** The harness writes a dump on this signal: see stack_dump.py. */
export const dumpSignal = "SIGUSR1";
export const dumpName = (statusName: string): string => `${statusName}.stack`;

const maxDumpBytes = 128 * 1024;
const maxFrames = 12;

type Stack = { readonly isTask: boolean; readonly isMain: boolean; readonly frames: readonly Frame[] };
type Frame = { readonly path: string; readonly line: number; readonly name: string };

/** The current stack of the code; null until it is written. The server itself could have written it. */
export async function readStackDump(path: string): Promise<{ stack: StackFrame[]; isWhole: boolean } | null> {
  const text = await readBounded(path, maxDumpBytes);
  return text?.includes("most recent call first") ? { stack: stackOf(text), isWhole: /^end$/m.test(text) } : null;
}

const frameLine = /^ {2}File "(.{1,1000})", line (\d{1,9}) in (.{1,300})$/;
const harness = /(?:^|\/)towpath_runner\/|^<frozen|\/importlib\//;

/** The owner's innermost call and its callees, of the main thread, or of a task if that runs an event loop. Pure. */
export function stackOf(dump: string): StackFrame[] {
  const [header = "", ...lines] = dump.split("\n");
  const { main, root } = readHeader(header);
  const stacks = stacksIn(lines, main);
  const thread = stacks.find(({ isMain }) => isMain) ?? stacks.findLast(({ isTask }) => !isTask);
  const isIdle = thread?.frames.at(-1)?.path.endsWith("/selectors.py") ?? true;
  const tasks = stacks.filter(({ isTask }) => isTask);
  const likeliest = isIdle ? [...tasks, ...(thread ? [thread] : [])] : thread ? [thread] : [];
  const isOwn = ({ path }: Frame) =>
    path.startsWith(`${root}/`) && !path.includes("/site-packages/") && !path.includes("/.venv/");
  const found = likeliest.find(({ frames }) => frames.some(isOwn));
  const chosen = found?.frames ?? likeliest[0]?.frames ?? [];
  const from = chosen.findLastIndex(found === undefined ? () => false : isOwn);
  return chosen
    .slice(Math.max(from, 0))
    .slice(0, maxFrames)
    .map((frame) => ({
      file: storableText(isOwn(frame) ? frame.path.slice(root.length + 1) : shortened(frame.path)),
      line: frame.line,
      name: storableText(frame.name),
      isOwn: isOwn(frame),
    }));
}

/** From the outermost call to the innermost, without those of the harness. */
function stacksIn(lines: readonly string[], main: string): Stack[] {
  const stacks: (Omit<Stack, "frames"> & { frames: Frame[] })[] = [];
  for (const line of lines) {
    if (line.includes("(most recent call first)"))
      stacks.push({ isTask: line.startsWith("Task "), isMain: main !== "" && line.includes(main), frames: [] });
    const [, path = "", number = "", name = ""] = frameLine.exec(line) ?? [];
    if (path !== "" && !harness.test(path)) stacks.at(-1)?.frames.unshift({ path, line: Number(number), name });
  }
  return stacks;
}

/** Without the path of the environment or Python. */
const shortened = (path: string) => path.replace(/^.*\/(?:site-packages|lib\/python3\.\d+)\//, "");

function readHeader(line: string): { readonly main: string; readonly root: string } {
  try {
    const { main, root } = JSON.parse(line) as Record<string, unknown>;
    if (typeof main === "string" && typeof root === "string") return { main, root };
  } catch {
    // The server's own text.
  }
  return { main: "", root: "" };
}
