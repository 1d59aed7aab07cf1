const words = /database or disk is full|No space left on device|Disk quota exceeded/;
const codes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);
const maxCauses = 5;

/** As in the answers of REST and to git; 507 is what no answer of GitHub has. */
export const diskFull = { status: 507, message: "The disk is full" } as const;

/** Whether something failed because no space was left: a file's, SQLite's or git's. */
export function isDiskFull(error: unknown): boolean {
  let each = error;
  for (let seen = 0; seen < maxCauses && each instanceof Error; seen += 1) {
    if (("code" in each && codes.has(each.code)) || words.test(each.message)) return true;
    each = each.cause;
  }
  return false;
}
