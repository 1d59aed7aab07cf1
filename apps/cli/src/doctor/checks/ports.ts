import { CommandError } from "../../terminal/terminal.ts";
import { portProblem } from "../../up/https/caddy.ts";
import { portsOf, requireUsablePort } from "../../up/preflight.ts";
import { type Check, type Finding, fixAs, notNeeded, ok } from "../finding.ts";

/** Whether `up` could listen. */
export const ports: Check = async ({ options, running }) => {
  if (running !== null) return [notNeeded("ports", "Towpath itself has them")];
  const { https } = options;
  const ofHttps = https === null ? [] : [https.httpPort, https.httpsPort].map((port) => ofCaddy(https.host, port));
  return Promise.all([...portsOf(options).map(ofRole), ...ofHttps]);
};

async function ofRole(port: ReturnType<typeof portsOf>[number]): Promise<Finding> {
  const name = `port ${port.port}`;
  try {
    await requireUsablePort(port);
    return ok(name, `free on ${port.host}`);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const remedy = "Name another with --port, --gateway-port, TOWPATH_HOST or TOWPATH_GATEWAY_HOST.";
    return fixAs(name, error.message, remedy);
  }
}

async function ofCaddy(host: string | null, port: number): Promise<Finding> {
  const problem = await portProblem(host, port);
  if (problem === null) return ok(`port ${port}`, "free for HTTPS");
  return fixAs(`port ${port}`, problem, "Set TOWPATH_HTTPS_HOST, TOWPATH_HTTP_PORT or TOWPATH_HTTPS_PORT.");
}
