/** Without what neither PostgreSQL nor UTF-8 can hold: NUL and halves of surrogate pairs become U+FFFD. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();
