/** Class names of text fields and selects. */
export const controlLook =
  "rounded-md border border-line-strong/70 bg-surface text-sm text-ink transition-[border-color,box-shadow] duration-100 placeholder:text-faint hover:border-line-strong focus-visible:border-focus focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-focus/60 disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted aria-invalid:border-bad";
