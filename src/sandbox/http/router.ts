import type { Route } from './answer.ts';
import { Refusal } from './service.ts';

interface Found {
  route: Route;
  /** Parts of the path by their name, decoded. */
  path: Record<string, string>;
}

/**
 * Finds the route of a method and a path as it was sent. Errors: Refusal 404 for a path that no route has, 405 where others of its methods are
 * known, 400 for a part that is no percent-encoded UTF-8, or `.` or `..`, which a client on the way would have taken for a folder.
 */
export function createRouter(routes: readonly Route[]): (method: string, pathname: string) => Found {
  const table = routes.map((route) => ({ route, words: route.endpoint.path.split('/') }));
  return (method, pathname) => {
    const given = pathname.split('/');
    const fitting = table.filter(({ words }) => fits(words, given));
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = fitting.find(({ route }) => route.endpoint.method === wanted);
    if (found !== undefined) return { route: found.route, path: partsOf(found.words, given) };
    if (fitting.length === 0) throw new Refusal(404, `no such endpoint: ${method} ${pathname}`);
    const allow = fitting.map(({ route }) => route.endpoint.method).join(', ');
    throw new Refusal(405, `${pathname} takes ${allow}, not ${method}`, { allow });
  };
}

const isName = (word: string) => word.startsWith('{');

function fits(words: readonly string[], given: readonly string[]): boolean {
  return (
    words.length === given.length &&
    words.every((word, index) => (isName(word) ? given[index] !== '' : word === given[index]))
  );
}

function partsOf(words: readonly string[], given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.flatMap((word, index) => {
      if (!isName(word)) return [];
      const name = word.slice(1, -1);
      return [[name, decode(name, given[index] ?? '')]];
    }),
  );
}

function decode(name: string, part: string): string {
  const text = decodePart(part);
  if (text === undefined) throw new Refusal(400, `${name} ${JSON.stringify(part)}: must be percent-encoded UTF-8`);
  if (text === '.' || text === '..') throw new Refusal(400, `${name} ${JSON.stringify(text)}: must not be . or ..`);
  return text;
}

/** Percent-encoded UTF-8 as text; `undefined` where it is none. */
export function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
