import { foldedTitle, foldFrames } from "@towpath/core/delivery/traceback/schema";
import { z } from "zod";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { type LogLine, plainText } from "~/ui/log-viewer/log-line.ts";
import { type ServerLogLevel, serverLogLevels } from "./server-log-search.ts";

/** A `line` event of `/api/deployments/{id}/log`. */
export const serverLogLineSchema = z.object({
  id: z.number().int(),
  time: z.string(),
  instanceId: z.string().nullable(),
  stream: z.enum(["stdout", "stderr", "platform"]),
  level: z.enum(serverLogLevels),
  requestId: z.string().nullable(),
  line: z.string(),
  caller: z.string().nullable(),
});
export type ServerLogLine = z.infer<typeof serverLogLineSchema>;

const tones: Record<ServerLogLevel, LogLine["tone"]> = {
  debug: "faint",
  info: "output",
  warning: "warning",
  error: "error",
};

/** The address of a request's details in the request log (LOG-4). */
export const requestHref =
  ({ orgSlug, projectName }: ProjectKey) =>
  (requestId: string): string =>
    `/${encodeURIComponent(orgSlug)}/${encodeURIComponent(projectName)}/logs?request=${requestId}`;

/** What the platform says of an instance that serves a single caller begins with whose it is (CAP-1). */
const textOf = ({ stream, caller, line }: ServerLogLine): string =>
  stream === "platform" && caller !== null ? `${caller}'s own instance: ${line}` : line;

export const toLogLine = (line: ServerLogLine, hrefOf: (requestId: string) => string): LogLine => ({
  id: line.id,
  time: line.time,
  text: textOf(line),
  tone: line.stream === "platform" && line.level === "info" ? "step" : tones[line.level],
  tag: line.stream === "platform" ? "towpath" : line.stream,
  ...(line.requestId !== null && { link: { href: hrefOf(line.requestId), label: "Show the request of this line" } }),
});

/** All lines of a log; of tracebacks, the frames of frameworks are folded. */
export function toLogLines(lines: readonly ServerLogLine[], hrefOf: (requestId: string) => string): LogLine[] {
  return foldFrames(lines, ({ line }) => plainText(line)).flatMap((group) => {
    const [first, ...more] = group.lines.map((line) => toLogLine(line, hrefOf));
    if (first === undefined || !group.isFolded) return first ?? [];
    const texts = [first, ...more].map(({ text }) => plainText(text));
    return { ...first, text: texts.join("\n"), tone: "faint", summary: foldedTitle(texts) };
  });
}

/** Lines of at least `level`. */
export function atLeast(lines: readonly ServerLogLine[], level: ServerLogLevel): readonly ServerLogLine[] {
  const min = serverLogLevels.indexOf(level);
  return min === 0 ? lines : lines.filter((line) => serverLogLevels.indexOf(line.level) >= min);
}
