/** Ends the session: submits a form, because a link could sign people out from other sites (AUTH-3). */
export function signOut(): void {
  const form = document.createElement("form");
  form.method = "post";
  form.action = "/logout";
  document.body.append(form);
  form.submit();
}
