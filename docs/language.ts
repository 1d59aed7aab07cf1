// Words that code, comments, tests and documents here don't use. They came in by translation: each is English, and none
// is what an engineer would write in that place.

/** A word or phrase in lower case, and what to write instead. In names, parts count: `toldOf` has `told`. */
const avoided: readonly (readonly [string, string])[] = [
  ["told", "shown, notified, informed, passed"],
  ["said", "reported, named, stated"],
  ["heard", "received, learned"],
  ["besides", "also, as well"],
  ["whatever", "any, regardless of"],
  ["of its time", "date-pinned"],
  ["of their time", "date-pinned"],
  ["came to nothing", "failed"],
  ["mend", "fix, correct, repair"],
  ["mends", "fixes, corrects, repairs"],
  ["mended", "fixed, corrected, repaired; of a failure: is retryable"],
  ["mending", "fixing, correcting, repairing"],
  ["anew", "again"],
  ["became of", "the result of"],
  ["looked after", "maintained"],
  ["away", "unreachable, absent, gone"],
  ["wanted", "requested, expected, or what it holds"],
  ["team", "organization"],
  ["teams", "organizations"],
];

/** Where an avoided word stays: quotations, groups of people that are no organization, and values that are stored. */
const kept: readonly RegExp[] = [
  // What the specification says: the parameter of a link, and the texts of Access Denied.
  /teamId/g,
  /access this team's|member of this team|not a team member|(?:wrong|The) team name/g,
  // Groups of people.
  /Your team, your company|The Towpath team|In a team, an owner/g,
  // A group of the audit log, the slug of a name without letters, what people search for, and the outcome of a sign-in.
  /["`]team["`]|team: "Organization"|key_of_other_team/g,
  // Names outside of Towpath: paths and mentions at Git hosts, top-level domains, and addresses that nobody may take.
  /example\.com(?::\d+)?\/team\/|@(?:org\/)?team\b|\|team\||\bsecrets sign-ins teams$/g,
  // The service, and the format of messages for it.
  /Microsoft Teams|microsoftTeams|["`]teams["`]|\bteams:/g,
  // A key of systemd's units.
  /WantedBy=/g,
  // The portal in the examples of REST.
  /team-portal/g,
];

const patterns = avoided.map(([phrase, instead]) => ({
  pattern: new RegExp(`\\b${phrase.replaceAll(" ", " +")}\\b`),
  message: `"${phrase}": write ${instead}`,
}));

const withoutKept = (line: string) => kept.reduce((rest, pattern) => rest.replaceAll(pattern, ""), line);

/** `cameToNothing` → `came to nothing` */
const spelledOut = (line: string) => line.replaceAll(/([a-z0-9])([A-Z])|_/g, "$1 $2").toLowerCase();

/** One message for each avoided word of each line, which begins with the line's number. */
export function findAvoidedWords(text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const spelled = spelledOut(withoutKept(line));
    return patterns.flatMap(({ pattern, message }) => (pattern.test(spelled) ? [`${index + 1}: ${message}`] : []));
  });
}

const maxSubjectCharacters = 72;

/** What is wrong with a commit's subject, which is imperative ("Add a page"); empty if nothing is. Merges pass. */
export function problemsOfSubject(subject: string): string[] {
  if (/^Merge /.test(subject)) return [];
  const [first = ""] = subject.split(" ");
  const problems: string[] = [];
  if (subject.length > maxSubjectCharacters) problems.push(`longer than ${maxSubjectCharacters} characters`);
  if (!/^[A-Z]/.test(subject)) problems.push("begins without a capital letter");
  if (subject.endsWith(".")) problems.push("ends with a full stop");
  if (/(?:\w{3}ed|\w{3}ing|[^s]s|:)$/.test(first))
    problems.push(`begins with "${first}": name what the commit does, as in "Add a page"`);
  return [...problems, ...findAvoidedWords(subject).map((message) => message.replace(/^1: /, ""))];
}
