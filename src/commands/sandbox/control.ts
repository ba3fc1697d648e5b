import type { IncomingHttpHeaders } from 'node:http';
import { sameText } from '../../api/webhook-signature.ts';
import { newRunToken } from '../../pages/guard.ts';
import { type createRequestLog, maxLogged } from '../../sandbox/serve/request-log.ts';
import {
  controlHeader,
  cutQuery,
  type IncomingRequest,
  makeAnswer,
  readBearer,
  refused,
  type ServedAnswer,
  ServiceRefusal,
} from '../../sandbox/service/handler.ts';

const root = '/_sandbox/';

interface ControlOptions {
  status: unknown;
  log: ReturnType<typeof createRequestLog>;
  stop: () => void;
}

/** The control API of a served sandbox under /_sandbox/, which needs the token. */
export function createControl({ status, log, stop }: ControlOptions) {
  const token = newRunToken();
  const actions: Readonly<Record<string, [method: string, act: (query: URLSearchParams) => unknown]>> = {
    status: ['GET', () => status],
    log: ['GET', (query) => log.latest(Math.max(1, Number(query.get('limit')) || maxLogged))],
    stop: [
      'POST',
      () => {
        setImmediate(stop);
        return {};
      },
    ],
  };
  const respond = async ({ method, target }: IncomingRequest, given: string): Promise<ServedAnswer> => {
    if (!sameText(given, token)) throw new ServiceRefusal(401, 'wrong control token');
    const path = cutQuery(target);
    const name = path.slice(root.length);
    if (!Object.hasOwn(actions, name)) throw new ServiceRefusal(404, `no such endpoint: ${method} ${path}`);
    const [allow, act] = actions[name] ?? ['', () => undefined];
    if (method !== allow) throw new ServiceRefusal(405, `${path} takes ${allow}, not ${method}`, { allow });
    return makeAnswer(200, JSON.stringify(act(new URLSearchParams(target.slice(path.length)))));
  };
  return {
    token,
    /** Whether a request comes from the control API or the page, not from a user of the service. */
    isOwn: ({ target }: IncomingRequest, headers: IncomingHttpHeaders): boolean =>
      target.startsWith(root) || headers[controlHeader] === token,
    /** `undefined` for a request to the service. */
    answer: (request: IncomingRequest, headers: IncomingHttpHeaders): Promise<ServedAnswer> | undefined =>
      request.target.startsWith(root)
        ? respond(request, String(headers[controlHeader] ?? readBearer(request.authorization) ?? '')).catch(refused)
        : undefined,
  };
}
