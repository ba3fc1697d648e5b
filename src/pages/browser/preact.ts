import type { JSX } from 'preact';

export { type ComponentChildren, createContext, createElement, render } from 'preact';
export { useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

export type Attributes = JSX.AllHTMLAttributes;
export type InputAttributes = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'class'>;

/** Takes the keys that it has a step for; all others stay with the browser. */
export function onKeys(steps: Readonly<Record<string, () => void>>): (event: KeyboardEvent) => void {
  return (event) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    step();
  };
}
