import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";

const accounts = "/sys/fs/cgroup/cpuacct";
const ticksPerSecond = 100;

type Load = {
  /** Processor seconds of this process and all that it has started; NaN where the host has no such control group. */
  readonly ownSeconds: number;
  /** Of the whole machine. */
  readonly allSeconds: number;
};

export type LoadMeter = {
  read(): Load;
  close(): void;
};

/**
 * Counts processor time by a control group (version 1), which includes processes that have ended or left their parent,
 * and that of the whole machine: wall time means little on a shared machine. Call it before anything is started.
 */
export function openLoadMeter(): LoadMeter {
  const group = `${accounts}/bench-${process.pid}`;
  const hasGroup = attempt(() => {
    mkdirSync(group);
    writeFileSync(`${group}/cgroup.procs`, String(process.pid));
  });
  return {
    read: () => ({
      ownSeconds: hasGroup ? Number(readFileSync(`${group}/cpuacct.usage`, "utf8")) / 1e9 : Number.NaN,
      allSeconds: machineSeconds(),
    }),
    close() {
      if (!hasGroup) return;
      attempt(() => {
        writeFileSync(`${accounts}/cgroup.procs`, String(process.pid));
        rmdirSync(group);
      });
    },
  };
}

function attempt(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** User, nice, system, irq, softirq and steal: time stolen from a virtual machine is load, too. */
function machineSeconds(): number {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/\s+/).map(Number);
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond;
}

export const loadText = () => `load average ${loadavg()[0]?.toFixed(1)}`;
