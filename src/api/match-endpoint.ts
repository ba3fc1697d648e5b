import type { Endpoint } from './endpoint.ts';
import type { RequestParts } from './request.ts';

/** The endpoint of a method and an address behind a base URL, and the parts of the address. */
export function matchEndpoint(
  { method, url }: { method: string; url: string },
  baseUrl: string,
  endpoints: readonly Endpoint[],
): { endpoint: Endpoint; parts: RequestParts } | undefined {
  const { pathname, searchParams } = new URL(url);
  const base = URL.canParse(baseUrl) ? new URL(baseUrl).pathname.replace(/\/$/, '') : '';
  const given = pathname.slice(pathname.startsWith(`${base}/`) ? base.length : 0).split('/');
  for (const endpoint of endpoints) {
    const words = endpoint.path.split('/');
    const isPlaceholder = (word: string | undefined) => word?.startsWith('{') === true;
    if (endpoint.method !== method || words.length !== given.length) continue;
    if (!words.every((word, index) => isPlaceholder(word) || word === given[index])) continue;
    const path = Object.fromEntries(
      words.flatMap((word, index) =>
        isPlaceholder(word) ? [[word.slice(1, -1), decodeSegment(given[index] ?? '')]] : [],
      ),
    );
    return { endpoint, parts: { path, query: searchParams, body: undefined } };
  }
  return undefined;
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
