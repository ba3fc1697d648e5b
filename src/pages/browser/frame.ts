import type { ServiceFacts } from '../service.ts';
import { createContext, useContext, useEffect, useState } from './preact.ts';

/** Ages are written anew so often. */
const ageMs = 15_000;

/** What all views of a page share. */
export interface PageFrame {
  /** By the clock of the service; absent until that is known. */
  nowSec: number | undefined;
  /** The list from which what is shown was opened. */
  from: { title: string; href: string };
  facts: ServiceFacts;
  /** Changes when what is shown must be asked for anew. */
  version: number;
}

export const noFrame: PageFrame = {
  nowSec: undefined,
  from: { title: '', href: '#/' },
  facts: { service: '', commandStart: 'sotra', isSandbox: false, requests: { empty: '', command: '' }, examples: {} },
  version: 0,
};

export const Frame = createContext(noFrame);

export const useFrame = () => useContext(Frame);

/** The clock of this machine, in milliseconds. */
export function useClock(): number {
  const [, tick] = useState(0);
  useEffect(() => {
    const ticking = setInterval(() => tick((count) => count + 1), ageMs);
    return () => clearInterval(ticking);
  }, []);
  // What came since the last tick is not in the future.
  return Date.now();
}

/** Does something so often while the page is seen. */
export function useWhileSeen(act: false | (() => void), everyMs: number, changed: unknown): void {
  useEffect(() => {
    if (act === false) return;
    const acting = setInterval(() => document.hidden || act(), everyMs);
    return () => clearInterval(acting);
  }, [changed]);
}

/** What comes in quick succession is told together. */
export function gather<T = void>(tell: (items: T[]) => void, waitMs: number): (item: T) => void {
  let gathered: T[] = [];
  return (item) => {
    gathered.push(item);
    if (gathered.length > 1) return;
    setTimeout(() => {
      const items = gathered;
      gathered = [];
      tell(items);
    }, waitMs);
  };
}
