import { request } from "node:http";
import { connect } from "node:net";
import { secretHeader } from "@towpath/runner-api/endpoint";
import { maxStatusBytes, parseReady, type Ready } from "../../host/server/harness-status.ts";

/** Where a server of a pod listens. */
export type Address = { readonly host: string; readonly port: number; readonly secret: string };

const statusPath = "/-/towpath/status";
const statusMs = 5000;
const connectMs = 2000;

/** The status of a server that is ready; null if it isn't, or another program listens there. */
export function askReady({ host, port, secret }: Address, done: AbortSignal): Promise<Ready | null> {
  return new Promise((resolve) => {
    const signal = AbortSignal.any([done, AbortSignal.timeout(statusMs)]);
    const headers = { [secretHeader]: secret };
    const asked = request({ host, port, path: statusPath, headers, signal, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
        // A tenant's server answers.
        if (text.length > maxStatusBytes) response.destroy();
      });
      response.once("close", () => resolve(response.statusCode === 200 && response.complete ? parseReady(text) : null));
    });
    asked.once("error", () => resolve(null));
    asked.end();
  });
}

/** `silent`: nothing answered in time, or the network leads nowhere: its node may be lost, slow, or behind a firewall. */
export type Dialed = "listening" | "refused" | "silent";

/** Opens a connection and closes it. */
export function dial({ host, port }: Pick<Address, "host" | "port">): Promise<Dialed> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const answer = (dialed: Dialed) => {
      socket.destroy();
      resolve(dialed);
    };
    socket.setTimeout(connectMs, () => answer("silent"));
    socket.once("connect", () => answer("listening"));
    socket.once("error", ({ code = "" }: NodeJS.ErrnoException) =>
      answer(code === "ECONNREFUSED" ? "refused" : "silent"),
    );
  });
}
