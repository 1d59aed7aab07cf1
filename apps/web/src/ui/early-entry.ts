import { useHydrated } from "@tanstack/react-router";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";

type Control = HTMLInputElement | HTMLTextAreaElement;

/**
 * Reports input entered in a control before the page's script ran, which React takes for the server's value. Entries of
 * several controls are reported one by one, each after the previous one's render.
 */
function useEarlyEntry<Target extends Control>(
  element: RefObject<Target | null>,
  entryOf: (control: Target) => Partial<Target> | null,
  report: (control: Target) => void,
): void {
  const latest = useRef(report);
  useLayoutEffect(() => {
    latest.current = report;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when React takes over the control
  useLayoutEffect(() => {
    const control = element.current;
    const entry = control && entryOf(control);
    if (!entry) return;
    queueMicrotask(() => {
      // The render of an earlier entry has reverted this one.
      Object.assign(control, entry);
      flushSync(() => latest.current(control));
    });
  }, []);
}

/** A text as a field shows it: without the line breaks that the state may have. */
const asShown = (text: string) => text.replaceAll(/[\r\n]/g, "");

/**
 * `text`: the control's rendered value; undefined for an uncontrolled one. `early`: its value before hydration, if
 * React has overwritten it.
 */
export const useEarlyText = <Target extends Control>(
  element: RefObject<Target | null>,
  text: unknown,
  report: (control: Target) => void,
  early: string | null = null,
) =>
  useEarlyEntry<Control>(
    element,
    (control) => {
      const value = early ?? control.value;
      return typeof text === "string" && asShown(value) !== asShown(text) ? { value } : null;
    },
    (control) => report(control as Target),
  );

/** The value of the textarea with this id before hydration, which resets it to the rendered value; null afterwards. */
export function useTextBeforeHydration(id: string | undefined): string | null {
  const isHydrating = !useHydrated() && typeof document !== "undefined";
  const read = () =>
    isHydrating && id ? document.querySelector<HTMLTextAreaElement>(`textarea#${CSS.escape(id)}`) : null;
  return useState(() => read()?.value ?? null)[0];
}

/** `checked`: the control's rendered state. Of a group of radio buttons, only the chosen one reports. */
export const useEarlyChoice = (
  element: RefObject<HTMLInputElement | null>,
  checked: boolean,
  report: (checked: boolean) => void,
) =>
  useEarlyEntry(
    element,
    ({ type, checked: now }) => (now !== checked && (type !== "radio" || now) ? { checked: now } : null),
    (control) => report(control.checked),
  );
