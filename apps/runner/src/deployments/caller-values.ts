import { RunnerError } from "@towpath/runner-api";
import { type CallerValues, missingNames, versionsOf } from "@towpath/secrets";

/**
 * A caller's own values for a server that is to run now.
 *
 * @param values null: there is no such deployment
 * @throws RunnerError `not_found`; `values_missing` when the caller lacks one
 */
export function requireValues(values: CallerValues | null): CallerValues {
  if (values === null) throw new RunnerError("not_found", "There is no such deployment.");
  const missing = missingNames(values);
  if (missing.length > 0) throw new RunnerError("values_missing", missing.join(", "));
  return values;
}

/** Differs whenever one of the values is another one: names, rows and versions. */
export const stampOf = ({ stored }: CallerValues): string =>
  JSON.stringify([versionsOf(stored), stored.secrets.map(({ secretId }) => secretId)]);
