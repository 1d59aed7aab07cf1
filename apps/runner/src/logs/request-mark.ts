const recordSeparator = 0x1e;
const unitSeparator = 0x1f;
const uuidLength = 36;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Splits a line of a server's output: the harness (python/towpath_runner, output.py) prefixes it with the id of the
 * request in which it was printed, between the ASCII characters RS and US. A server may write such a mark itself, with
 * any id: it counts within its own project only.
 */
export function readRequestMark(line: string): { readonly requestId: string | null; readonly line: string } {
  const end = uuidLength + 1;
  if (line.charCodeAt(0) !== recordSeparator || line.charCodeAt(end) !== unitSeparator)
    return { requestId: null, line };
  const id = line.slice(1, end);
  return uuid.test(id) ? { requestId: id, line: line.slice(end + 1) } : { requestId: null, line };
}
