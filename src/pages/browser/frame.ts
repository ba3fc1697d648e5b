import { createContext, useContext, useEffect } from './preact.ts';

/** What can be found by a few letters. */
export interface Known {
  kind: string;
  title: string;
  /** What it is found by, in small letters. */
  words: string;
}

/** What all views of a page share. */
export interface PageFrame {
  /** By the clock of the service; absent until that is known. */
  nowSec: number | undefined;
  /** The list from which what is shown was opened. */
  from: { title: string; href: string };
  examples: Readonly<Record<string, string>>;
  /** By its address, what the views have shown. */
  known: Map<string, Known>;
}

export const Frame = createContext<PageFrame>({
  nowSec: undefined,
  from: { title: '', href: '#/' },
  examples: {},
  known: new Map(),
});

export const useFrame = () => useContext(Frame);

/** Makes what a view shows be found later. */
export function useKnown(
  list: () => readonly (readonly [href: string, title: string, words: string])[],
  changed: unknown,
) {
  const { known } = useFrame();
  useEffect(() => {
    for (const [href, title, words] of list())
      known.set(href, { kind: href.slice(2).split('/')[0] ?? '', title, words: words.toLowerCase() });
  }, [changed]);
}
