/** A deployment may pass an empty entrypoint, which a change of settings takes as null: each build finds it (BLD-16). */
export const changedEntrypoint = (given: string | undefined): string | null | undefined =>
  given === "" ? null : given;
