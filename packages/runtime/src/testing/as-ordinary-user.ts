// Becomes a program that runs as an ordinary user (nobody), on a host whose /dev/net/tun is open to everybody as it is
// on any common Linux. To be started by root in a mount namespace of its own: unshare --mount -- node this DIRECTORY
// FILE ARG…
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const [directory = "", ...command] = process.argv.slice(2);
const run = (file: string, ...argv: string[]) => {
  const { status, stderr } = spawnSync(file, argv, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
};
const device = `${directory}/tun`;
// There already, when another program was started so before.
if (!existsSync(device)) run("/usr/bin/mknod", "--mode=0666", device, "c", "10", "200");
run("/usr/bin/mount", "--bind", device, "/dev/net/tun");
const drop = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ...command];
process.execve?.("/usr/bin/setpriv", drop, process.env);
