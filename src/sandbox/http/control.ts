import { createHash, timingSafeEqual } from 'node:crypto';
import { type Answer, answerOf, bearerOf, type IncomingRequest, pathOf, refused } from './answer.ts';
import { maxLogged, type RequestLog } from './request-log.ts';
import { Refusal } from './service.ts';

/** Where a served sandbox can be told things that are not of the service; see `Control`. */
const root = '/_sandbox/';

interface Control {
  /** Sent as `x-control-token`, or as a bearer token. */
  token: string;
  /** Answer of GET /_sandbox/status. */
  status: unknown;
  /** Answer of GET /_sandbox/log?limit=. */
  log: RequestLog;
  /** At POST /_sandbox/stop. */
  stop: () => void;
}

/** Whether a request is for the control of a sandbox and not for its service. */
export function isControl({ target }: IncomingRequest): boolean {
  return target.startsWith(root);
}

/** Answers requests under /_sandbox/ for whoever has the token; `undefined` for other paths. */
export function createControl(control: Control) {
  const acts: Record<string, (query: URLSearchParams) => unknown> = {
    'GET status': () => control.status,
    'GET log': (query) => control.log.latest(Math.max(1, Number(query.get('limit')) || maxLogged)),
    'POST stop': () => {
      setImmediate(control.stop);
      return {};
    },
  };
  return (request: IncomingRequest, token: string | undefined): Answer | undefined => {
    if (!isControl(request)) return undefined;
    const { method, target, authorization } = request;
    const path = pathOf(target);
    if (!isSame(token ?? bearerOf(authorization) ?? '', control.token))
      return refused(new Refusal(401, 'wrong control token'));
    const name = path.slice(root.length);
    const act = Object.entries(acts).filter(([each]) => each.endsWith(` ${name}`));
    const [found] = act.filter(([each]) => each.startsWith(`${method} `));
    if (found !== undefined)
      return answerOf(200, JSON.stringify(found[1](new URLSearchParams(target.slice(path.length)))));
    const allow = act.map(([each]) => each.split(' ')[0]).join(', ');
    return refused(
      allow === ''
        ? new Refusal(404, `no such endpoint: ${method} ${path}`)
        : new Refusal(405, `${path} takes ${allow}, not ${method}`, { allow }),
    );
  };
}

/** By their digests, which are of one length whatever was sent. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
