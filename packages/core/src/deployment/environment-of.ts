/** The environment that a branch's builds are made for: it decides which secrets they get. */
export const environmentOf = (branch: { readonly isDefault: boolean }) =>
  branch.isDefault ? ("production" as const) : ("preview" as const);
