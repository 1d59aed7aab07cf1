import { needsEarlyMcp } from "../diagnose/framework-release.ts";
import type { Failure } from "../failure.ts";
import type { Pin } from "../source/requirements-file.ts";
import type { Attempt, FailedBuild, Strategy } from "./attempt.ts";
import { mayNeedInstalling } from "./installed.ts";
import { differentVersions, hasLock, otherVersionsFailed, versionsIn } from "./versions.ts";

/** A day with whose releases the server may work. `when`: what happened that day, the end of a sentence. */
type Day = { readonly day: Date; readonly when: string };

const dayMs = 24 * 60 * 60 * 1000;

/** Until mcp 1.12 FastMCP took any argument. */
const earlyMcp: Day = { day: new Date("2025-07-16T00:00:00Z"), when: "mcp 1.11 was the newest" };

/** Resolves as of the day whose releases accepted what the installed ones refuse, according to the latest failure. */
export const pinnedToFailure: Strategy = async (build) => {
  const { status } = build.last;
  return canPin(build) && status !== null && needsEarlyMcp(status) ? datePinned(build, earlyMcp, earlyMcp.day) : null;
};

/** Resolves as of the date of the source, or of the newest release that it pins. */
export const pinnedToSource: Strategy = async (build) => {
  if (!canPin(build)) return null;
  const found = await dayOfSource(build);
  // A day later all files of a release have been uploaded.
  return found === null ? null : datePinned(build, found, new Date(found.day.getTime() + dayMs));
};

const canPin = (build: FailedBuild) => !mayNeedInstalling(build) && !hasLock(build.made);

function datePinned({ made: today, first, isPackage }: FailedBuild, { day, when }: Day, asOf: Date): Attempt {
  const date = day.toISOString().slice(0, 10);
  return {
    changes: { asOf },
    why: `newer versions of what it depends on may have broken it, so those of ${date} are installed, when ${when}.`,
    failed: otherVersionsFailed,
    warningFor: (made) => {
      const { today: failure, changed, file } = differentVersions(first, made, today);
      return {
        code: "older_dependencies",
        title: `The server runs with dependencies of ${date}`,
        detail: `${failure} With those of ${date}, when ${when}, it does${changed}. They lack what was fixed since.`,
        remedy: isPackage
          ? "Choose a newer version of the package when there is one, or tell its author which dependencies to pin."
          : `Make the server work with today's versions, or pin those that it needs in ${file} (or commit a uv.lock), and push.`,
      };
    },
    reportFor: () => null,
  };
}

async function dayOfSource({ made, first, isPackage, now, uploadedAt }: FailedBuild): Promise<Day | null> {
  const isOld = (day: Date) => now.getTime() - day.getTime() > 2 * dayMs;
  if (made.madeAt !== null && isOld(made.madeAt)) {
    return { day: made.madeAt, when: isPackage ? "this version was published" : "the commit was made" };
  }
  const release =
    (await newestPin(made.plan.dependencies.pins, uploadedAt)) ??
    (await releaseOf(outgrownBy(first), made.exact, uploadedAt));
  return release !== null && isOld(release.at) ? { day: release.at, when: `${release.name} was released` } : null;
}

/** Name with version, and its upload time. */
type Release = { readonly name: string; readonly at: Date };

const frameworks = new Set(["mcp", "fastmcp"]);
const maxPins = 20;

/**
 * The newest release among a source's pins of its framework and others: the day on which its author last chose
 * versions, even if the source was committed later. Null unless it pins its framework.
 */
export async function newestPin(pins: readonly Pin[], uploadedAt: FailedBuild["uploadedAt"]): Promise<Release | null> {
  if (!pins.some(({ name }) => frameworks.has(name))) return null;
  const releases = await Promise.all(pins.slice(0, maxPins).map((pin) => released(pin, uploadedAt)));
  const known = releases.filter((release) => release !== null);
  return known.toSorted((a, b) => b.at.getTime() - a.at.getTime())[0] ?? null;
}

/** The installed version of a package with its upload time; null if unknown. */
export async function releaseOf(
  name: string | null,
  exact: string,
  uploadedAt: FailedBuild["uploadedAt"],
): Promise<Release | null> {
  const pin = versionsIn(exact).find((each) => each.name === name);
  return pin === undefined ? null : released(pin, uploadedAt);
}

async function released(pin: Pin, uploadedAt: FailedBuild["uploadedAt"]): Promise<Release | null> {
  const at = await uploadedAt(pin).catch(() => null);
  return at && { name: `${pin.name} ${pin.version}`, at };
}

/** The first of two installed packages that don't work together; null for other failures. */
function outgrownBy({ status }: Failure): string | null {
  const [first, second] = status?.code === "dependency_mismatch" ? status.candidates : [];
  return second === undefined ? null : (first ?? null);
}
