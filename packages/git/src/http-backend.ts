import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { Readable as NodeReadable } from "node:stream";
import type { ReadableStream as WebReadableStream } from "node:stream/web";
import { type GitSetting, gitEnvironment } from "./git-environment.ts";
import { holdReport } from "./push-report.ts";

/** The endpoints of smart HTTP; every other path below a repository is refused. */
export type Service = "info/refs" | "git-upload-pack" | "git-receive-pack";

type BackendRequest = {
  readonly directory: string;
  readonly settings?: readonly GitSetting[];
  readonly service: Service;
  readonly request: Request;
  /** Login of the account that pushes; absent for anonymous reads. */
  readonly user: string | null;
  /**
   * Runs after git has exited and before the client gets git's report of a push, so that the client's next request sees
   * the push. Resolves to the reason, in one line, to refuse the whole push; null accepts it.
   */
  readonly afterwards: () => Promise<string | null>;
};

const headerLimitBytes = 64 * 1024;
/** Longer than any working client needs. */
const maxMs = 2 * 3_600_000;
/** How long to drain a request that nobody reads any more. */
const discardMs = 2 * 60_000;
type Backend = ChildProcessByStdio<Writable, Readable, null>;

/** CGI variables (RFC 3875) as `git http-backend` documents them. */
function environment({ directory, settings = [], service, request, user }: BackendRequest): Record<string, string> {
  const url = new URL(request.url);
  const header = (name: string) => request.headers.get(name) ?? "";
  return {
    ...gitEnvironment(directory, settings),
    GIT_PROJECT_ROOT: directory,
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: `/${service}`,
    REQUEST_METHOD: request.method,
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: header("content-type"),
    // Without a length, git reads the body to its end. With one, it spins forever when the body ends early, as when the
    // web process is killed during a push.
    CONTENT_LENGTH: "",
    HTTP_CONTENT_ENCODING: header("content-encoding"),
    GIT_PROTOCOL: header("git-protocol"),
    REMOTE_ADDR: "127.0.0.1",
    // git accepts pushes only if this is set.
    ...(user !== null && { REMOTE_USER: user }),
  };
}

function parseHeaders(text: string): { status: number; headers: Headers } {
  const headers = new Headers();
  let status = 200;
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "status") status = Number.parseInt(value, 10);
    else headers.set(name, value);
  }
  return { status, headers };
}

/** Reads the CGI header; the rest of the chunk belongs to the body. */
async function readHeader(chunks: AsyncIterator<Buffer>): Promise<{ header: string; rest: Buffer } | null> {
  let buffer: Buffer = Buffer.alloc(0);
  while (buffer.length < headerLimitBytes) {
    const { value, done } = await chunks.next();
    if (done) return null;
    buffer = Buffer.concat([buffer, value]);
    const end = /\r?\n\r?\n/.exec(buffer.toString("latin1"));
    if (end)
      return { header: buffer.toString("latin1", 0, end.index), rest: buffer.subarray(end.index + end[0].length) };
  }
  return null;
}

async function* following(rest: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (rest.length > 0) yield rest;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
}

function bodyStream(
  child: Backend,
  chunks: AsyncIterator<Buffer>,
  ended: Promise<unknown>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (!done) {
        controller.enqueue(value);
        return;
      }
      await ended;
      controller.close();
    },
    cancel() {
      // With unread output the process never emits `close`, and the push would not be recorded.
      child.stdout.destroy();
      child.kill("SIGTERM");
    },
  });
}

/**
 * Reads on when git has ended before the request has, as at a push above the limit: a client that still sends when the
 * connection closes doesn't get to read why.
 */
function discard(source: Readable): void {
  source.unpipe();
  const timer = setTimeout(() => source.destroy(), discardMs);
  timer.unref();
  source.once("close", () => clearTimeout(timer));
  source.resume();
}

/** Passes a smart HTTP request to `git http-backend`, streaming body and response. */
export async function serveGit(input: BackendRequest): Promise<Response> {
  const child = spawn("git", ["http-backend"], {
    cwd: input.directory,
    env: environment(input),
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise<string | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => input.afterwards().then(resolve, reject));
  });
  const late = setTimeout(() => child.kill("SIGTERM"), maxMs);
  child.once("close", () => clearTimeout(late));
  // The reader of the body awaits the exit too; a client's disconnect must not become an unhandled rejection.
  ended.catch(() => {});
  child.stdin.on("error", () => {});
  const body = input.request.body as WebReadableStream<Uint8Array> | null;
  if (body === null) child.stdin.end();
  else {
    const source = NodeReadable.fromWeb(body);
    source.on("error", () => child.kill("SIGTERM"));
    source.pipe(child.stdin);
    child.once("close", () => discard(source));
  }
  const chunks: AsyncIterator<Buffer> = child.stdout[Symbol.asyncIterator]();
  const answer = await readHeader(chunks);
  if (answer === null) {
    child.kill("SIGTERM");
    return new Response("git gave no answer\n", { status: 500 });
  }
  const { status, headers } = parseHeaders(answer.header);
  const output = following(answer.rest, chunks);
  const isReport = headers.get("content-type") === "application/x-git-receive-pack-result";
  return new Response(bodyStream(child, isReport ? holdReport(output, ended) : output, ended), { status, headers });
}
