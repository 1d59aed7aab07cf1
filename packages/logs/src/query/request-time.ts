/**
 * The time of a request by its id: ids of requests are UUIDs of version 7, which begin with the milliseconds since 1970
 * (RFC 9562 §5.7). For another id, a time without rows.
 */
export function timeOfRequestId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16));
}
