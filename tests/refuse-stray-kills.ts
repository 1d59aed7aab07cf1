// `process.kill(0)` ends the whole process group: this worker, the launcher above it, and the run without a word of why.
// An id that was read a moment too early is 0 (`Number("")`), so that such a kill fails its test instead.
const stray = "refuseStray";

if (process.kill.name !== stray) {
  const kill = process.kill.bind(process);
  const refuse = (pid: number, signal?: string | number): true => {
    if (!Number.isInteger(pid) || Math.abs(pid) <= 1)
      throw new Error(`${pid} is not the id of a process that a test started`);
    return kill(pid, signal);
  };
  Object.defineProperty(refuse, "name", { value: stray });
  process.kill = refuse;
}
