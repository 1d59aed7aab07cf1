import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { Facts } from "../facts.ts";
import { type Check, fix, ok } from "../finding.ts";

const name = "leftovers";
const connectWithinMs = 1_000;

/** What killed processes left: servers without an instance, control groups, mounts, sockets. */
export const leftovers: Check = async (facts) => {
  const { options, running } = facts;
  const { shim, controlGroups, mounts } = (await facts.host()).leftovers;
  if (running === null && shim !== null) {
    const remedy = `./towpath up takes them over; kill ${shim} ends them.`;
    return [fix(name, `process ${shim} keeps the servers of an instance that was killed`, remedy)];
  }
  const foreign = mounts.filter((path) => !path.startsWith(`${options.runDirectory}/`));
  const own = mounts.length - foreign.length;
  const sockets = await deadSockets(facts);
  const found = [
    ...count(controlGroups.length, "control group", "control groups"),
    ...count(mounts.length, "mount", "mounts"),
    ...count(sockets.length, "socket", "sockets"),
  ];
  if (found.length === 0) return [ok(name, "there are none")];
  const restart =
    running === null ? "./towpath up removes them when it starts." : "Restart ./towpath up, which removes them.";
  const remedies = [
    ...(controlGroups.length + own + sockets.length > 0 ? [restart] : []),
    // Of other data directories, which may not exist any more.
    ...(foreign.length > 0 ? [`As root: umount -l ${foreign.join(" ")}`] : []),
  ];
  return [fix(name, `killed processes left ${found.join(", ")}`, remedies.join(" "))];
};

const count = (many: number, one: string, several: string): readonly string[] =>
  many === 0 ? [] : [`${many} ${many === 1 ? one : several}`];

/** Sockets in the run directory on which nothing listens. A process that is starting replaces its own. */
async function deadSockets({ options, running }: Facts): Promise<readonly string[]> {
  if (running !== null) return [];
  const entries = await readdir(options.runDirectory, { withFileTypes: true }).catch(() => []);
  const paths = entries.filter((entry) => entry.isSocket()).map(({ name }) => join(options.runDirectory, name));
  const dead = await Promise.all(paths.map(async (path) => ((await answers(path)) ? [] : [path])));
  return dead.flat();
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const done = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(connectWithinMs, () => done(true));
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}
