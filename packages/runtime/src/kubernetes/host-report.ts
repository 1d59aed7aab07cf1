import { satisfies } from "@renovatebot/pep440";
import { hostDisk } from "../host/disk.ts";
import type { HostReport, Isolation, LastingData, Pythons } from "../port/host.ts";
import type { ProbeReport } from "./probe.ts";

/** Without one of these, tenants' code is not isolated. */
const required: ReadonlySet<string> = new Set(["own user", "capabilities", "privileges", "no token"]);

export type Probe = () => Promise<ProbeReport>;

/** Asks once; again after an error. */
export function cachedProbe(probe: Probe): Probe {
  let asked: Promise<ProbeReport> | null = null;
  return () => {
    asked ??= probe().catch((error: unknown) => {
      asked = null;
      throw error;
    });
    return asked;
  };
}

export function kubernetesHost(parts: {
  readonly namespace: string;
  readonly dataDirectory: string;
  readonly probe: Probe;
  readonly data: LastingData;
}): HostReport {
  const { namespace, dataDirectory, probe, data } = parts;
  return {
    name: `kubernetes/${namespace}`,
    // Its scheduler knows.
    capacity: { memoryBytes: Number.POSITIVE_INFINITY, processors: Number.POSITIVE_INFINITY },
    selfTest: () => probe().then(isolationOf, notTested),
    pythons: imagePythons(probe),
    disk: hostDisk(dataDirectory),
    data,
  };
}

/** Pure. */
export function isolationOf({ checks }: ProbeReport): Isolation {
  const list = Object.entries(checks).map(([name, detail]) => ({
    name,
    ok: detail === "",
    required: required.has(name),
    detail: detail === "" ? "in force" : detail,
  }));
  const failed = list.filter(({ ok }) => !ok);
  const refuses = failed.some((check) => check.required);
  return {
    isolatedBy: "pods",
    checks: list,
    trusted: !refuses,
    refuses: false,
    exceptions: [],
    problems: failed.map(({ name, detail }) => `Pods of servers lack a protection (${name}): ${detail}.`),
  };
}

function notTested(error: unknown): Isolation {
  const detail = error instanceof Error ? error.message : String(error);
  const checks = [{ name: "pods", ok: false, required: true, detail }];
  return { isolatedBy: "pods", checks, trusted: false, refuses: false, exceptions: [], problems: [detail] };
}

/** Those of the image, newest first. */
const imagePythons = (probe: Probe): Pythons => ({
  list: async () => (await newestFirst(probe)).map((version) => ({ version, isDownloaded: false })),
  async find(request) {
    const found = await newestFirst(probe);
    return found.find((version) => request === null || matches(version, request)) ?? null;
  },
  bring: async () => ({
    ok: false,
    reason: "On Kubernetes, Pythons come with the image of servers (TOWPATH_KUBERNETES_IMAGE).",
  }),
});

async function newestFirst(probe: Probe): Promise<readonly string[]> {
  const { pythons } = await probe();
  return pythons.toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }));
}

/** Requests are versions such as `3.11`, which is any of its releases, or ranges. */
function matches(version: string, request: string): boolean {
  const isVersion = /^\d+(\.\d+)*$/.test(request);
  if (!isVersion) return satisfies(version, request);
  return version === request || version.startsWith(`${request}.`);
}
