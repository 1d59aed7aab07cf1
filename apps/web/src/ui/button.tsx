import { useHydrated } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import { classNames } from "./class-names.ts";
import { Spinner } from "./loading.tsx";

const base =
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors duration-100 disabled:opacity-55 data-disabled:opacity-55 [&_svg]:shrink-0";

const variants = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover",
  secondary: "border border-line-strong/55 bg-surface text-ink hover:bg-hover",
  ghost: "text-muted hover:bg-hover hover:text-ink aria-pressed:bg-hover aria-pressed:text-ink",
  danger: "bg-bad-solid text-white hover:brightness-95",
  "danger-quiet": "border border-bad/40 text-bad hover:bg-bad-soft",
  link: "text-accent-text underline-offset-3 hover:underline",
};

const sizes = {
  sm: "h-7 px-2.5 text-xs [&_svg]:size-3.5",
  md: "h-8 px-3 text-sm [&_svg]:size-4",
  lg: "h-10 px-4 text-base [&_svg]:size-4.5",
  inline: "h-auto p-0 text-[length:inherit]",
};

export type ButtonLook = { variant?: keyof typeof variants; size?: keyof typeof sizes };

/** The class names of a button, for links: `<Link className={buttonLook({ variant: "primary" })}>`. */
export function buttonLook({
  variant = "secondary",
  size = "md",
  className,
}: ButtonLook & { className?: string | undefined } = {}): string {
  return classNames(base, variants[variant], sizes[size], className);
}

export type ButtonProps = Omit<ComponentProps<"button">, "className"> &
  ButtonLook & {
    className?: string;
    /** Shows a spinner and ignores clicks. The button keeps its focus. */
    busy?: boolean;
    icon?: ReactNode;
    /** Disabled for a moment, with the look that it will have. */
    waiting?: boolean;
  };

/**
 * An unstyled button. It needs the page's script, so it is disabled until hydrated (`data-waiting`); a submit button
 * works before, unless it is `waiting`.
 */
export function PlainButton({
  type = "button",
  disabled = false,
  waiting = false,
  ...rest
}: ComponentProps<"button"> & Pick<ButtonProps, "waiting">) {
  const isWaiting = (!useHydrated() && type === "button") || waiting;
  return <button {...rest} type={type} disabled={disabled || isWaiting} data-waiting={isWaiting ? "" : undefined} />;
}

/** A button for an action. For navigation use a link with `buttonLook`. */
export function Button({
  variant,
  size,
  className,
  busy = false,
  icon,
  children,
  disabled = false,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <PlainButton
      className={buttonLook({ variant, size, className })}
      disabled={disabled && !busy}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      data-disabled={disabled || busy ? "" : undefined}
      // A submit button would send its form.
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </PlainButton>
  );
}
