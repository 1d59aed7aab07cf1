const maxShown = 100;

/** A client's name for something, such as a tool, as the gateway's messages quote it: long names are cut. */
export const quotedName = (name: string): string => JSON.stringify(name.slice(0, maxShown));
