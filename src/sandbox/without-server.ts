import {
  answerer,
  largestBodyBytes,
  noEndpoint,
  type Route,
  refusalOf,
  refuseBody,
  type ServiceOptions,
} from './answer.ts';

interface Request {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/**
 * The sandbox for requests of this process: the same answers as over a socket, without a server, and without the platform's Request and
 * Response, which take longer to load than most answers to make. Never throws.
 */
export function answerWithoutServer(options: ServiceOptions): (request: Request) => Promise<Answer> {
  const answer = answerer(options);
  const headers = () => ({ 'content-type': 'application/json', 'x-request-id': crypto.randomUUID() });
  return async ({ method, url, headers: { authorization: key }, body = '' }) => {
    try {
      if (Buffer.byteLength(body) > largestBodyBytes) refuseBody();
      for (const route of options.routes) {
        const path = route.endpoint.method === method ? partsOf(route, url.pathname) : undefined;
        if (path === undefined) continue;
        const text = await answer(route, { key, url: url.href, path, body: () => body });
        return { status: 200, headers: headers(), text };
      }
      return { status: 404, headers: headers(), text: JSON.stringify(noEndpoint(method, url.pathname)) };
    } catch (error) {
      const refusal = refusalOf(error);
      return { status: refusal.status, headers: headers(), text: JSON.stringify(refusal.body) };
    }
  };
}

/** The named parts of a path, where it is one of the route. */
function partsOf({ endpoint }: Route, pathname: string): Record<string, string> | undefined {
  const [wanted, given] = [endpoint.path.split('/'), pathname.split('/')];
  if (wanted.length !== given.length) return undefined;
  const parts: Record<string, string> = {};
  for (const [index, word] of wanted.entries()) {
    const text = given[index] ?? '';
    const [, name] = /^\{(\w+)\}$/.exec(word) ?? [];
    if (name === undefined ? word !== text : text === '') return undefined;
    if (name !== undefined) parts[name] = decoded(text);
  }
  return parts;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
