import type { RequestLogRow } from "@towpath/logs";

type LostRow = Pick<RequestLogRow, "id" | "time" | "projectId">;

/** Rows that are named by id. */
const maxNamedRows = 50;

/** Rows that neither the database nor the disk has taken, for one message when the process ends. */
export class LostRows {
  count = 0;
  readonly #ofProject = new Map<string, number>();
  readonly #ids: string[] = [];
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  add({ id, time, projectId }: LostRow): void {
    this.count += 1;
    this.#ofProject.set(projectId, (this.#ofProject.get(projectId) ?? 0) + 1);
    if (this.#ids.length < maxNamedRows) this.#ids.push(id);
    this.#first = Math.min(this.#first, time);
    this.#last = Math.max(this.#last, time);
  }

  /** Null when there are none. */
  describe(): string | null {
    if (this.count === 0) return null;
    const [first, last] = [this.#first, this.#last].map((time) => new Date(time).toISOString());
    const projects = [...this.#ofProject].map(([id, rows]) => `${rows} of project ${id}`).join(", ");
    const more = this.count > this.#ids.length ? " and others" : "";
    return (
      `${this.count} rows of the request log could not be stored, from ${first} to ${last}: ${projects}. ` +
      `Ids: ${this.#ids.join(", ")}${more}.`
    );
  }
}
