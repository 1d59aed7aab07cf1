/** The name of the last member of a path, without its places in lists: `price` of `items[].price[]#2`. */
export function lastName(path: string): string {
  for (let rest = path; ; ) {
    // Not one pattern for all: a server chooses its names, and many brackets would take long.
    const shorter = rest.endsWith("[]") ? rest.slice(0, -2) : rest.replace(/#\d+$/, "");
    if (shorter === rest) return rest.slice(rest.lastIndexOf(".") + 1);
    rest = shorter;
  }
}
