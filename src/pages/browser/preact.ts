export { type ComponentChildren, createContext, render } from 'preact';
export { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

/** Takes the keys that it has a step for; all others stay with the browser. */
export function onKeys(steps: Readonly<Record<string, () => void>>): (event: KeyboardEvent) => void {
  return (event) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    step();
  };
}
