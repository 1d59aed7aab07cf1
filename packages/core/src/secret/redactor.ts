/** Shorter values ("1", "true", "eu") occur everywhere by chance; hiding them would make the log unreadable. */
const shortestHidden = 6;

/** Replaces the values of a project's secrets in a text: servers and tools print what they are given (KEY-4). */
export function redactor(secrets: Readonly<Record<string, string>>): (text: string) => string {
  const hidden = Object.entries(secrets)
    .flatMap(([name, value]) => [value, ...value.split("\n")].map((part) => ({ name, part: part.trim() })))
    .filter(({ part }) => part.length >= shortestHidden)
    // The longest first: a part of another value must not leave the rest of it behind.
    .toSorted((one, other) => other.part.length - one.part.length);
  if (hidden.length === 0) return (text) => text;
  return (text) => hidden.reduce((rest, { name, part }) => rest.replaceAll(part, `[${name}]`), text);
}
