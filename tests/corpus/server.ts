/** A published server of the corpus: what a person would type, and the expected result. */
export type CorpusServer = {
  /** Name and version on the package index, for example `mcp-server-time==2026.10.19`. */
  readonly package: string;
  /** Where the index offers several commands and none is named like the package: the one that its README names. */
  readonly command?: string;
  /** Variables that a user would have to set. The values are made up. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Arguments that a user would have to give on the command line. */
  readonly arguments?: readonly string[];
  /** A tool that changes nothing and needs no network. */
  readonly call?: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** It can't go live: texts that a right diagnosis contains, in any case of letters. */
  readonly fails?: readonly string[];
};

export const nameOf = (server: CorpusServer): string => server.package.split("==")[0] ?? server.package;
