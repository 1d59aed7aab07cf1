import { currentDeployments, type ProjectRoutes, type Route } from "../read-model/routes.ts";

/** Label → route, in memory. It changes within one turn, so that a reader never sees half of a change. */
export class RouteTable {
  readonly #routes = new Map<string, Route>();
  readonly #domains = new Map<string, string>();
  /** The labels of each project, also those that another project has taken over since. */
  readonly #labels = new Map<string, readonly string[]>();
  #isLoaded = false;
  #opening: Promise<void> | null = null;

  /** Resolves when the table may be used; null once it may. At a start its routes may be older than the database's. */
  get opening(): Promise<void> | null {
    return this.#opening;
  }

  /** Whether routes were ever loaded, from the database or from the snapshot. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get size(): number {
    return this.#routes.size;
  }

  find(label: string): Route | undefined {
    return this.#routes.get(label);
  }

  /** All routes, in no order. */
  all(): Route[] {
    return [...this.#routes.values()];
  }

  /** The projects that have routes. */
  projects(): ReadonlySet<string> {
    return new Set(this.#labels.keys());
  }

  labelsOf(projectId: string): readonly string[] {
    return this.#labels.get(projectId) ?? [];
  }

  /** The label of the server that a domain of its own leads to. */
  readonly labelOfDomain = (hostName: string): string | undefined => this.#domains.get(hostName);

  /** The deployments that labels lead to, and those of running releases. Iterates over all routes: not for the path of a request. */
  deployments(): ReadonlySet<string> {
    return new Set(this.all().flatMap(currentDeployments));
  }

  /** Makes readers wait for a load, which must end by itself. Never rejects. */
  openAfter(load: Promise<unknown>): void {
    const opening: Promise<void> = load
      .catch(() => {})
      .then(() => {
        if (this.#opening === opening) this.#opening = null;
      });
    this.#opening = opening;
  }

  /** Replaces all routes by those of a snapshot. */
  replace(routes: readonly Route[]): void {
    const byProject = Map.groupBy(routes, ({ projectId }) => projectId);
    const gone = [...this.#labels.keys()].filter((projectId) => !byProject.has(projectId));
    this.apply(
      gone,
      [...byProject].map(([projectId, own]) => ({ projectId, routes: own })),
    );
  }

  /**
   * Removes the routes of projects, and replaces those of others. Returns the further projects that had one of the new
   * labels until now: what else is known of them is out of date.
   */
  apply(gone: readonly string[], changed: readonly Omit<ProjectRoutes, "digest">[]): string[] {
    this.#isLoaded = true;
    for (const projectId of gone) this.#remove(projectId);
    for (const { projectId } of changed) this.#remove(projectId);
    const overruled = new Set<string>();
    for (const { projectId, routes } of changed) {
      for (const route of routes) {
        const before = this.#routes.get(route.label);
        if (before) overruled.add(before.projectId);
        this.#routes.set(route.label, route);
        for (const domain of route.domains) this.#domains.set(domain, route.label);
      }
      // This version may be able to parse none of them.
      if (routes.length > 0)
        this.#labels.set(
          projectId,
          routes.map(({ label }) => label),
        );
    }
    return [...overruled];
  }

  #remove(projectId: string): void {
    for (const label of this.labelsOf(projectId)) {
      const route = this.#routes.get(label);
      if (route?.projectId !== projectId) continue;
      this.#routes.delete(label);
      for (const domain of route.domains) if (this.#domains.get(domain) === label) this.#domains.delete(domain);
    }
    this.#labels.delete(projectId);
  }
}
