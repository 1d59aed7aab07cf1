// Runs inside a sandbox, started by self-test.ts, and attempts what must be impossible. Prints a ProbeReport as one
// JSON line. JavaScript, because Node takes longer to remove types than for all the rest.
import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";

/**
 * @typedef {object} Task
 * @property {string[]} unreadable
 * @property {string[]} unwritable
 * @property {(string | { host: string, port: number })[]} unreachable
 * @property {string} hostProcess Id and start time of the platform's process.
 * @property {string[]} unsendable
 * @property {string} sendFrom Source address of the packets.
 * @property {string} nonce Known to the host's listeners.
 * @property {number} tmpBytes Capacity of /tmp.
 */

/** @type {Task} */
const task = JSON.parse(process.argv[2] ?? "{}");

/** @param {() => void} action */
function attempt(action) {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/**
 * Connects and says so with the nonce. What listens there decides whether it was reached: a connection that only this
 * side believes in proves nothing. It closes the connection once it has read the message.
 *
 * @param {Task["unreachable"][number]} target @returns {Promise<void>}
 */
function tryToReach(target) {
  return new Promise((resolve) => {
    // @ts-expect-error: two overloads
    const socket = connect(target);
    const settle = () => {
      socket.destroy();
      resolve();
    };
    socket.setTimeout(1500, settle);
    socket.once("connect", () =>
      socket.write(`${task.nonce} ${typeof target === "string" ? "abstract" : target.host}`),
    );
    socket.once("close", settle);
    socket.once("error", settle);
  });
}

/** @param {string} address @returns {Promise<boolean>} */
function canSend(address) {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const settle = (/** @type {boolean} */ sent) => {
      socket.close();
      resolve(sent);
    };
    socket.once("error", () => settle(false));
    socket.bind(0, task.sendFrom, () => socket.send("x", 9, address, (error) => settle(error === null)));
  });
}

/** In a container the platform's process has a small id, which one of the sandbox may have too. */
function findsHostProcess() {
  const [pid, startTime] = task.hostProcess.split("-");
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] === startTime;
  } catch {
    return attempt(() => process.kill(Number(pid), 0));
  }
}

const status = readFileSync("/proc/self/status", "utf8");
const field = (/** @type {string} */ name) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1] ?? "";
/** gVisor's /proc lacks the line, but its prctl(2) knows. */
const noNewPrivileges =
  field("NoNewPrivs") ||
  /^no_new_privs: (\d)$/m.exec(spawnSync("/usr/bin/setpriv", ["--dump"], { encoding: "utf8" }).stdout)?.[1];
/** gVisor has no ambient ones; the others are on every kernel. */
const capabilities = ["CapInh", "CapPrm", "CapEff", "CapBnd", ...(field("CapAmb") === "" ? [] : ["CapAmb"])];
const environmentNames = readFileSync("/proc/self/environ", "utf8")
  .split("\0")
  .map((entry) => entry.split("=")[0] ?? "")
  .filter((name) => name !== "");
for (const target of task.unreachable) await tryToReach(target);
/** @type {string[]} */
const sent = [];
for (const address of task.unsendable) if (await canSend(address)) sent.push(address);

process.stdout.write(
  `${JSON.stringify({
    uid: process.getuid?.() ?? -1,
    groups: process.getgroups?.() ?? [],
    capabilities: capabilities.map(field),
    noNewPrivileges: noNewPrivileges === "1",
    seccomp: field("Seccomp") === "2",
    environment: environmentNames,
    processes: readdirSync("/proc").filter((name) => /^\d+$/.test(name)).length,
    foundHost: findsHostProcess(),
    read: task.unreadable.filter((path) => attempt(() => readFileSync(path))),
    wrote: task.unwritable.filter((path) => attempt(() => writeFileSync(path, "x"))),
    sent,
    exceededTmp: attempt(() => writeFileSync("/tmp/full", Buffer.alloc(task.tmpBytes + 1))),
    madeUserNamespace: spawnSync("/usr/bin/unshare", ["--user", "/usr/bin/true"]).status === 0,
  })}\n`,
);
