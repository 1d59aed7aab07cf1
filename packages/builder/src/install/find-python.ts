import type { BuildWarning, RepositoryChange } from "@towpath/core/delivery/build/contract";
import type { Pythons } from "@towpath/runtime";
import { askOperator, type BuildFailure, changeCodeBy, failed } from "../failure.ts";
import { isRange, type PythonChoice } from "../plan/choose-python.ts";

/** The oldest Python that FastMCP and the mcp package support. */
const oldestMinor = 10;
const preferredMinor = 13;
const oldestSupported = `>=3.${oldestMinor}`;

export type FoundPython = {
  /** Such as `3.11.7`. */
  readonly version: string;
  /** The source of its download, because this host had none; null if it was installed. */
  readonly from: string | null;
  /** Set if it is not the requested version (BLD-18). */
  readonly warning: BuildWarning | null;
};

/**
 * Finds the Python for a plan. Downloads the requested version if this platform lacks it; if that is impossible, takes
 * the nearest one that `requires-python` allows and warns (BLD-18).
 *
 * @param defaultPython the operator's choice (TOWPATH_PYTHON) for repositories that request none; null: any
 *
 * @throws BuildFailure `python_unavailable` if none fits
 */
export async function findPython(
  choice: PythonChoice,
  defaultPython: string | null,
  pythons: Pythons,
): Promise<FoundPython> {
  const request = choice.request ?? defaultPython;
  const version = await requested(request, pythons);
  if (version !== null) return { version, from: null, warning: null };
  const brought = await pythons.bring(request ?? oldestSupported);
  if (brought.ok) return { version: brought.version, from: brought.from, warning: null };
  const available = (await pythons.list()).map(({ version }) => version).filter((each) => minorOf(each) >= oldestMinor);
  if (choice.request !== null && !isRange(choice.request)) {
    const other = await nearest(choice.request, choice.within?.range ?? null, available, pythons);
    if (other !== null)
      return { version: other, from: null, warning: fellBack(choice, other, available, brought.reason) };
  }
  throw unavailable(choice, request, available, brought.reason);
}

async function requested(request: string | null, pythons: Pythons): Promise<string | null> {
  if (request !== null && !isRange(request)) return pythons.find(request);
  // A range may allow versions older than the supported ones: prefer supported ones.
  const range = request === null ? oldestSupported : `${request},${oldestSupported}`;
  return (await pythons.find(range)) ?? (await pythons.find(request));
}

async function nearest(
  request: string,
  range: string | null,
  available: readonly string[],
  pythons: Pythons,
): Promise<string | null> {
  for (const minor of byDistance(minorOf(request), available.map(minorOf))) {
    const found = await pythons.find(range === null ? `3.${minor}` : `${range},==3.${minor}.*`);
    if (found !== null) return found;
  }
  return null;
}

/** Each minor version once, the nearest to `center` first; of two equally near ones the newer. */
export function byDistance(center: number, minors: readonly number[]): number[] {
  return [...new Set(minors)].sort((a, b) => Math.abs(a - center) - Math.abs(b - center) || b - a);
}

const minorOf = (version: string) => Number(version.split(".")[1] ?? 0);

const listed = (versions: readonly string[]) =>
  versions.length === 0 ? `no Python 3.${oldestMinor} or newer` : `Python ${versions.join(", ")}`;

/** The operator's remedy, as the end of a sentence. */
const install = (request: string) =>
  `install Python ${request} on the host, or to set TOWPATH_PYTHON_MIRROR to where its builds can be downloaded`;

function fellBack(
  { request, from, within }: PythonChoice,
  version: string,
  available: readonly string[],
  whyNotBrought: string,
): BuildWarning {
  const allowed =
    within === null
      ? "There is no requires-python that limits the version"
      : `requires-python of ${within.file} (${within.range}) allows it`;
  return {
    code: "python_replaced",
    title: `Built with Python ${version} instead of ${request}`,
    detail: `${from} asks for Python ${request}, but this platform has ${listed(available)}. ${whyNotBrought} ${allowed}, so the nearest version is used.`,
    remedy: `Set ${from} to a version that this platform has, or ask the operator to ${install(request ?? "")}.`,
  };
}

function unavailable(
  { from, within, ...choice }: PythonChoice,
  request: string | null,
  available: readonly string[],
  whyNotBrought: string,
): BuildFailure {
  const isDefault = choice.request === null;
  const has = `It has ${listed(available)}.`;
  const narrower =
    within === null || within.range === choice.request
      ? ""
      : ` No other version fits either: ${within.file} requires ${within.range}.`;
  const where = within === null || within.file === from ? from : `${from} and requires-python in ${within.file}`;
  const [other] = byDistance(minorOf(request ?? ""), available.map(minorOf));
  const change: RepositoryChange | null =
    other === undefined ? null : { kind: "python", file: ".python-version", version: `3.${other}` };
  return failed("plan", "python_unavailable", isDefault ? askOperator : changeCodeBy(change), {
    title: isDefault && request === null ? "This platform has no Python" : `Python ${request} is not available`,
    detail: isDefault
      ? `The platform's default is Python ${request ?? "3.10 or newer"}, which is not installed. ${has} ${whyNotBrought}`
      : `${from} asks for Python ${request}, which this platform doesn't have. ${has}${narrower} ${whyNotBrought}`,
    remedy: isDefault
      ? `Ask the operator to ${install(request ?? `3.${preferredMinor}`)}.`
      : `Change ${where} to allow a version that is available, or ask the operator to ${install(request ?? "")}.`,
    file: isDefault ? null : from,
  });
}
