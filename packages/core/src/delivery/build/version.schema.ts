// Apart from the contract of builds: pages that only name versions need no schemas.

/** What people call a commit: the first seven digits of its id. */
export const shortCommit = (sha: string): string => sha.slice(0, 7);

type Version = { readonly packageVersion: string | null; readonly commitSha: string };

/** What people call the code of a build: the version of a package, else the beginning of the commit's id. */
export const versionText = (of: Version): string => of.packageVersion ?? shortCommit(of.commitSha);

/** The same with its kind, within a sentence. */
export const namedVersion = (of: Version): string =>
  `${of.packageVersion === null ? "commit" : "version"} ${versionText(of)}`;
