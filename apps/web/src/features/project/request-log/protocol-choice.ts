import { useSyncExternalStore } from "react";

/** Key in localStorage: "shown" when the reader wants to see messages of the protocol. */
const storageKey = "log-protocol";
const changed = "towpath:log-protocol";

/** Whether the reader chose to see messages of the protocol; false on the server. */
export function isProtocolShown(): boolean {
  try {
    return localStorage.getItem(storageKey) === "shown";
  } catch {
    return false;
  }
}

function subscribe(listener: () => void): () => void {
  addEventListener("storage", listener);
  addEventListener(changed, listener);
  return () => {
    removeEventListener("storage", listener);
    removeEventListener(changed, listener);
  };
}

/** Whether the reader wants to see messages of the protocol, on every log; hidden on the server and at first. */
export function useProtocolChoice(): [isShown: boolean, choose: (shown: boolean) => void] {
  const shown = useSyncExternalStore(subscribe, isProtocolShown, () => false);
  return [
    shown,
    (next) => {
      try {
        if (next) localStorage.setItem(storageKey, "shown");
        else localStorage.removeItem(storageKey);
      } catch {
        // Without storage the address keeps it.
      }
      dispatchEvent(new Event(changed));
    },
  ];
}
