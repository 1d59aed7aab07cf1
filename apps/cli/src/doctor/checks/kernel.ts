import { arch, platform, release } from "node:os";
import { neededOpenFiles, openFilesProblem } from "@towpath/role";
import { type Check, type Finding, fix, fixAs, ok } from "../finding.ts";

/** What the binaries of Node 24 are made for (BUILDING.md of nodejs/node). */
const oldest = { major: 4, minor: 18 };

type Machine = { readonly platform: string; readonly arch: string; readonly release: string };

/** `release`: as of uname, such as `6.1.0-18-amd64`. */
export function kernelFinding({ platform, arch, release }: Machine): Finding {
  const found = `${platform} ${release} on ${arch}`;
  const remedy = "Run Towpath on Linux 4.18 or newer, on x64 or arm64.";
  const [major = 0, minor = 0] = release.split(".").map(Number);
  const isNewEnough = major > oldest.major || (major === oldest.major && minor >= oldest.minor);
  const fits = platform === "linux" && isNewEnough && (arch === "x64" || arch === "arm64");
  return fits ? ok("kernel", found) : fix("kernel", found, remedy);
}

/** The machine that the processes run on, and how many files they may open. */
export const kernel: Check = async () => {
  const problem = openFilesProblem(neededOpenFiles.sandboxes);
  return [
    kernelFinding({ platform: platform(), arch: arch(), release: release() }),
    problem === null ? ok("open files", "enough") : fixAs("open files", problem, "Raise the limit."),
  ];
};
