import { Bucket, type Rate } from "@towpath/limits";
import type { RequestLogRow } from "@towpath/logs";

/** Rows of one project at once, and each minute after that. */
const rows: Rate = { burst: 60, perMinute: 300 };

/**
 * Rate-limits the rows of requests refused before they reached their server: anybody can send those, and a flood must
 * not fill a project's log. Omitted rows are counted, and the next row that is kept says how many there were.
 */
export class RefusalLimit {
  /** Rows left out since the start. */
  leftOut = 0;
  /** At most one for each project with a route. */
  readonly #projects = new Map<string, { readonly bucket: Bucket; leftOut: number }>();
  readonly #rate: Rate;
  readonly #now: () => number;

  /** `share`: the part of the bound that is this process's. `now`: milliseconds that only grow. */
  constructor({ share = 1, now = () => performance.now() }: { share?: number; now?: () => number } = {}) {
    this.#rate = { burst: Math.max(1, rows.burst * share), perMinute: rows.perMinute * share };
    this.#now = now;
  }

  /** The row to keep; null to leave it out. */
  admit(row: RequestLogRow): RequestLogRow | null {
    const now = this.#now();
    const project = this.#projects.get(row.projectId) ?? { bucket: new Bucket(), leftOut: 0 };
    this.#projects.set(row.projectId, project);
    if (project.bucket.waitFor(1, this.#rate, now) > 0) {
      this.leftOut++;
      project.leftOut++;
      return null;
    }
    project.bucket.take(1, this.#rate, now);
    const { leftOut } = project;
    project.leftOut = 0;
    if (leftOut === 0) return row;
    const notice = `Before this one, ${leftOut} refused requests were left out of the log.`;
    return { ...row, errorMessage: row.errorMessage === null ? notice : `${row.errorMessage} ${notice}` };
  }
}
