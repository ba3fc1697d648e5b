import { useEffect, useState } from 'preact/hooks';

/** What the address shows: `#/trader/0x1?status=open` is the view `trader` with one part. */
export interface Route {
  view: string;
  parts: readonly string[];
  query: Readonly<Record<string, string>>;
}

export function writeHref(view: string, parts: readonly string[] = [], query: Route['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${[view, ...parts].map(encodeURIComponent).join('/')}${search}`;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const look = () => setHash(location.hash);
    addEventListener('hashchange', look);
    // It may have changed since the first render.
    look();
    return () => removeEventListener('hashchange', look);
  }, []);
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', ...parts] = path.split('/').map(decoded);
  return { view, parts, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** Changes the filters of a view without an entry in the browser's history. */
export function setQuery({ view, parts, query }: Route, changes: Route['query']): void {
  location.replace(writeHref(view === '' ? 'activity' : view, parts, { ...query, ...changes }));
}

/** Of an address that somebody typed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
