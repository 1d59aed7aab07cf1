/** `bytes`: of request bodies. */
type Use = { requests: number; bytes: number };

const nothing: Readonly<Use> = { requests: 0, bytes: 0 };

/** Counts requests and the bytes of their bodies, of each project and of all together. */
export class ProjectUse {
  readonly #ofProjects = new Map<string, Use>();
  readonly #all: Use = { ...nothing };

  get all(): Readonly<Use> {
    return this.#all;
  }

  of(projectId: string): Readonly<Use> {
    return this.#ofProjects.get(projectId) ?? nothing;
  }

  /** Negative numbers take back what was added. */
  add(projectId: string, { requests, bytes }: Readonly<Use>): void {
    const use = this.#ofProjects.get(projectId) ?? { ...nothing };
    use.requests += requests;
    use.bytes += bytes;
    this.#all.requests += requests;
    this.#all.bytes += bytes;
    if (use.requests === 0) this.#ofProjects.delete(projectId);
    else this.#ofProjects.set(projectId, use);
  }
}
