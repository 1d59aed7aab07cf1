/** Ids of cards on the settings page. */
export type Section = "build" | "variables" | "package";

const ways = [
  [/Settings → Build/, "build"],
  [/root directory in the project's settings/, "build"],
  [/Settings → Environment variables/, "variables"],
  [/Settings → Package/, "package"],
  [/\b(?:build|builds) (?:it )?again|\bredeploy|\bstart the build again/i, "again"],
] as const satisfies readonly (readonly [RegExp, Section | "again"])[];

/**
 * What a diagnosis asks for first: a section of the settings, the same build again, or else a change of the code. Told by
 * the text that stands beside the button: the same failure may be cured in one place or another.
 */
export function whatHelps(remedy: string): Section | "again" | "code" {
  const named = ways.map(([pattern, way]) => ({ at: remedy.search(pattern), way })).filter(({ at }) => at >= 0);
  return named.toSorted((one, other) => one.at - other.at)[0]?.way ?? "code";
}
