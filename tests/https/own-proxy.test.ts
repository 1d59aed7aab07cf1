import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "@towpath/role/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ports, repositoryRoot, startTowpath, type TowpathInstance } from "../instance/towpath-process.ts";
import { callTool, expectAddress, expectStreamed } from "./calls.ts";
import { deployedInstance } from "./deployed.ts";
import { type Front, requestAt } from "./https-request.ts";
import { type Program, startProgram } from "./program.ts";

const dashboard = "https://towpath.example.com";
const server = "https://streaming.servers.example.com";
let directory: string;
let ports: Ports;
let instance: TowpathInstance;

beforeAll(async () => {
  const deployed = await deployedInstance();
  ({ directory, ports } = deployed);
  instance = await startTowpath(deployed.dataDirectory, ports, {
    TOWPATH_URL: dashboard,
    TOWPATH_SERVER_URL: "https://{name}.servers.example.com",
  });
}, 600_000);
afterAll(async () => {
  await instance?.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** The configuration that the documentation shows, with the ports of this instance. */
async function documented(language: "caddyfile" | "nginx"): Promise<string> {
  const page = await readFile(join(repositoryRoot, "docs/https.md"), "utf8");
  const [, block = ""] = page.split(`\`\`\`${language}\n`);
  const [config = ""] = block.split("```");
  return config
    .replaceAll("127.0.0.1:3000", `127.0.0.1:${ports.web}`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${ports.gateway}`);
}

type Proxy = { readonly front: Front; readonly program: Program };

async function startNginx(): Promise<Proxy> {
  const [httpPort = 0, port = 0] = await freePorts(2);
  const [key, certificate] = [join(directory, "nginx.key"), join(directory, "nginx.pem")];
  const names = "subjectAltName=DNS:towpath.example.com,DNS:*.servers.example.com";
  const made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const subject = ["-subj", "/CN=Towpath", "-addext", names, "-keyout", key, "-out", certificate];
  await promisify(execFile)("openssl", [...made, ...subject]);
  const site = (await documented("nginx"))
    .replaceAll("listen 80;", `listen 127.0.0.1:${httpPort};`)
    .replaceAll("listen 443 ", `listen 127.0.0.1:${port} `)
    .replaceAll(/\/etc\/ssl\/\S+\.pem/g, certificate)
    .replaceAll(/\/etc\/ssl\/\S+\.key/g, key);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${directory}/nginx-${name};`)
    .join("\n");
  const config = join(directory, "nginx.conf");
  const user = process.getuid?.() === 0 ? "user root;" : "";
  await writeFile(
    config,
    `daemon off; ${user} pid ${directory}/nginx.pid; error_log stderr; events {}
http { access_log off; ${temporary}
${site} }`,
  );
  const front = { port, authorities: await readFile(certificate, "utf8") };
  const answers = () => requestAt(front, `${dashboard}/healthz`);
  return { front, program: await startProgram(["nginx", "-c", config, "-p", directory, "-e", "stderr"], answers) };
}

async function startCaddy(): Promise<Proxy> {
  const [httpPort = 0, port = 0, adminPort = 0] = await freePorts(3);
  const home = join(directory, "caddy-home");
  await mkdir(home);
  // Certificates of Caddy's own authority, on demand as from another.
  const tested = `admin 127.0.0.1:${adminPort}\nhttp_port ${httpPort}\nhttps_port ${port}\ndefault_bind 127.0.0.1\nlocal_certs\nskip_install_trust`;
  const config = join(directory, "Caddyfile");
  await writeFile(config, (await documented("caddyfile")).replace("{\n", `{\n${tested}\n`));
  const root = () => readFile(join(home, "caddy/pki/authorities/local/root.crt"), "utf8");
  const env = { PATH: process.env.PATH, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  const answers = async () => requestAt({ port, authorities: await root() }, `${dashboard}/healthz`);
  const program = await startProgram(["caddy", "run", "--adapter", "caddyfile", "--config", config], answers, { env });
  return { front: { port, authorities: await root() }, program };
}

test.each([
  ["nginx", startNginx],
  ["Caddy", startCaddy],
])(
  "OPS-12 behind %s as documented, streams arrive event by event, addresses are right and names without a server unknown",
  async (_name, start) => {
    const { front, program } = await start();
    try {
      expect((await requestAt(front, `${dashboard}/healthz`)).status).toBe(200);
      expect((await callTool(front, server, "address")).status).toBe(200);
      await expectStreamed(front, server);
      await expectAddress(front, server);
      const unknown = await requestAt(front, "https://nobody.servers.example.com/mcp").then(
        ({ status }) => status,
        String,
      );
      expect(unknown).not.toBe(200);
      expect((await requestAt(front, `${dashboard}/healthz`)).headers.server).toBeDefined();
    } finally {
      await program.stop();
    }
  },
);
