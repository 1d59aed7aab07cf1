/** After a submit, focuses the first field with an error, which may be out of view. */
export const focusFirstProblem = (form: HTMLFormElement): number =>
  // Once React has marked the fields.
  requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
