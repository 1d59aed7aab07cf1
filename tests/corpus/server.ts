/** A published server of the corpus: what a person would type, and the expected result. */
export type CorpusServer = {
  /** Name and version on the package index, for example `mcp-server-time==2026.10.19`. */
  readonly package: string;
  /** The README's command, if the package has several and none has its name. */
  readonly command?: string;
  /** Variables that a user has to set, with made-up values. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Arguments that a user has to pass on the command line. */
  readonly arguments?: readonly string[];
  /** A tool that changes nothing and needs no network. */
  readonly call?: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** It can't go live: texts that a right diagnosis contains, in any case of letters. */
  readonly fails?: readonly string[];
};

export const nameOf = (server: CorpusServer): string => server.package.split("==")[0] ?? server.package;
