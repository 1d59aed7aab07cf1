const format = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** `web, gateway or worker` */
export const orList = (names: readonly string[]): string => format.format(names);
