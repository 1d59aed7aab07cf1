/** After a form was submitted: the first field with an error gets the focus, which may be out of view. */
export const focusFirstProblem = (form: HTMLFormElement): number =>
  // Once React has marked the fields.
  requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
