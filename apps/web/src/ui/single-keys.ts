import { useSyncExternalStore } from "react";

/** Key in localStorage: "off" when the person has switched single keys off (WCAG 2.2, 2.1.4). */
const storageKey = "shortcuts";
const changed = "towpath:shortcuts";

/** Whether single keys such as `/` are shortcuts, at this moment. */
export function areSingleKeysOn(): boolean {
  try {
    return localStorage.getItem(storageKey) !== "off";
  } catch {
    return true;
  }
}

export function setSingleKeys(on: boolean): void {
  try {
    if (on) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, "off");
  } catch {
    // Without storage they stay on.
  }
  dispatchEvent(new Event(changed));
}

function subscribe(listener: () => void): () => void {
  addEventListener("storage", listener);
  addEventListener(changed, listener);
  return () => {
    removeEventListener("storage", listener);
    removeEventListener(changed, listener);
  };
}

/** Whether single keys such as `/` are shortcuts. */
export const useSingleKeys = (): boolean => useSyncExternalStore(subscribe, areSingleKeysOn, () => true);
