const maxShown = 100;

/** What a client named, such as a tool, as the gateway's own messages quote it: long names are cut. */
export const quotedName = (name: string): string => JSON.stringify(name.slice(0, maxShown));
