import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** As root, nginx would run its workers as another user, who can't enter the benchmark's directory. */
const asMyself = process.getuid?.() === 0 ? "user root; " : "";
const message =
  '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello from the bench"}],"isError":false}}';

export type Answers = {
  /** Unix sockets of a server that answers every request at once: with JSON, and with an event stream of one event. */
  json: string;
  stream: string;
};

/** Starts that server: nginx, so that it never limits the rate. It also answers with JSON at `port`. */
export async function startServer(
  directory: string,
  port: number,
): Promise<{ answers: Answers; process: ChildProcess }> {
  const answers = { json: join(directory, "json.sock"), stream: join(directory, "stream.sock") };
  const event = `event: message\\ndata: ${message.replaceAll('"', '\\"')}\\n\\n`;
  const child = await startNginx(directory, {
    name: "server",
    servers: `
  server { listen unix:${answers.json}; listen 127.0.0.1:${port};
    location / { default_type application/json; return 200 '${message}'; } }
  # A filter that may change the length drops Content-Length: the answer is chunked, as event streams are.
  server { listen unix:${answers.stream};
    location / { default_type text/event-stream; sub_filter_types *; sub_filter 'found nowhere' ''; return 200 "${event}"; } }`,
  });
  return { answers, process: child };
}

export type NginxPorts = { fresh: number; keepAlive: number; stream: number };

/**
 * Starts nginx as a proxy of one process on one core: with a new connection to the server for each request (`fresh`),
 * its default, and with connections that are kept.
 */
export function startNginxProxy(
  directory: string,
  parts: { answers: Answers; ports: NginxPorts; core: string },
): Promise<ChildProcess> {
  const { answers, ports, core } = parts;
  const kept = (upstream: string) =>
    `proxy_pass http://${upstream}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;`;
  return startNginx(directory, {
    name: "proxy",
    core,
    servers: `
  upstream json { server unix:${answers.json}; keepalive 256; keepalive_requests 100000000; }
  upstream stream { server unix:${answers.stream}; keepalive 256; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${ports.fresh}; location / { proxy_pass http://unix:${answers.json}; } }
  server { listen 127.0.0.1:${ports.keepAlive}; location / { ${kept("json")} } }
  server { listen 127.0.0.1:${ports.stream}; location / { ${kept("stream")} proxy_buffering off; } }`,
  });
}

async function startNginx(
  directory: string,
  { name, servers, core }: { name: string; servers: string; core?: string },
): Promise<ChildProcess> {
  const configuration = join(directory, `${name}.conf`);
  const at = (what: string) => join(directory, `${name}-${what}`);
  await writeFile(
    configuration,
    `${asMyself}worker_processes 1; daemon off; pid ${at("pid")}; error_log ${at("log")} error;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000; client_body_temp_path ${at("body")}; proxy_temp_path ${at("proxy")};
  fastcgi_temp_path ${at("fastcgi")}; uwsgi_temp_path ${at("uwsgi")}; scgi_temp_path ${at("scgi")};
${servers}
}`,
  );
  const command = ["nginx", "-c", configuration, "-p", directory];
  const [program = "", ...args] = core === undefined ? command : ["taskset", "-c", core, ...command];
  return spawn(program, args, { stdio: "inherit" });
}

/** nginx's worker: the master only waits. */
export async function workerOf({ pid }: ChildProcess): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const [child = ""] = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ");
    if (child !== "") return Number(child);
    await sleep(50);
  }
  throw new Error("nginx has started no worker");
}
