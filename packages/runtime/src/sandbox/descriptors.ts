import { readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;
/** Above this a descriptor is not masked; the self-test then finds it open inside and refuses. */
const highestMasked = 1023;

/**
 * Descriptors that whoever started the platform left open: unlike Node's own, they survive an exec and would reach
 * into the sandbox. Node cannot close them, but a child can get /dev/null in their place.
 */
export function inheritedDescriptors(): number[] {
  return readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter((descriptor) => descriptor > 2 && descriptor <= highestMasked && !closesOnExec(descriptor));
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & closeOnExec) !== 0;
  } catch {
    // Closed between listing and looking: it was the listing's own.
    return true;
  }
}
