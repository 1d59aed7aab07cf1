/**
 * Whether a pattern such as `system:serviceaccount:agents:*` admits a subject. `*` stands for any characters other than
 * a colon, so the parts of a service account's name stay apart. Takes time proportional to the lengths.
 */
export function admitsSubject(pattern: string, subject: string): boolean {
  const [patterns, parts] = [pattern.split(":"), subject.split(":")];
  return patterns.length === parts.length && patterns.every((each, at) => matches(each, parts[at] ?? ""));
}

function matches(pattern: string, part: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return part === pattern;
  if (part.length < first.length + last.length || !part.startsWith(first) || !part.endsWith(last)) return false;
  let from = first.length;
  for (const middle of rest) {
    const at = part.indexOf(middle, from);
    if (at === -1) return false;
    from = at + middle.length;
  }
  return from <= part.length - last.length;
}
