import { createHash, timingSafeEqual } from 'node:crypto';
import { sandboxPartners } from '../db/world.ts';
import {
  type Answer,
  answerOf,
  bearerOf,
  decodePart,
  type IncomingRequest,
  ignoredHeader,
  pathOf,
  printable,
  Refusal,
  refused,
} from './service.ts';

const root = '/_sandbox/';

interface ControlOptions {
  /** Sent as `x-control-token`, or as a bearer token. */
  token: string;
  status: unknown;
  log: RequestLog;
  stop: () => void;
}

/** Whether a request is for the control of a sandbox and not for its service. */
export function isControl({ target }: IncomingRequest): boolean {
  return target.startsWith(root);
}

/** Answers requests under /_sandbox/ for whoever has the token; `undefined` for other paths. */
export function createControl({ token, status, log, stop }: ControlOptions) {
  const actions: Record<string, { method: string; act: (query: URLSearchParams) => unknown }> = {
    status: { method: 'GET', act: () => status },
    log: { method: 'GET', act: (query) => log.latest(Math.max(1, Number(query.get('limit')) || maxLogged)) },
    stop: {
      method: 'POST',
      act: () => {
        setImmediate(stop);
        return {};
      },
    },
  };
  return (request: IncomingRequest, given: string | undefined): Answer | undefined => {
    if (!isControl(request)) return undefined;
    const { method, target, authorization } = request;
    if (!isSame(given ?? bearerOf(authorization) ?? '', token)) return refused(new Refusal(401, 'wrong control token'));
    const path = pathOf(target);
    const name = path.slice(root.length);
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) return refused(new Refusal(404, `no such endpoint: ${method} ${path}`));
    if (action.method !== method)
      return refused(new Refusal(405, `${path} takes ${action.method}, not ${method}`, { allow: action.method }));
    return answerOf(200, JSON.stringify(action.act(new URLSearchParams(target.slice(path.length)))));
  };
}

/** By their digests, which are of one length whatever was sent. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

export interface LoggedRequest {
  time: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  /** Whose key it was, `a` or `b`; `null` where it was nobody's. */
  partner: string | null;
  /** The last four characters of the key that was sent; `null` where there was none. */
  key: string | null;
  /** Names of the query and fields of the body that changed nothing. */
  ignored: readonly string[];
}

export interface RequestLog {
  note: (request: IncomingRequest, answer: Answer, ms: number) => LoggedRequest;
  latest: (count: number) => readonly LoggedRequest[];
}

const maxLogged = 1000;
const maxPath = 2000;

export function createRequestLog(now: () => number): RequestLog {
  let kept: LoggedRequest[] = [];
  return {
    note: ({ method, target, authorization }, { status, headers }, ms) => {
      const key = bearerOf(authorization);
      const logged = {
        time: new Date(now()).toISOString(),
        method,
        path: shownPath(target, key),
        status,
        ms: Math.round(ms * 10) / 10,
        partner: sandboxPartners.find((partner) => partner.key === key)?.id ?? null,
        key: key === undefined ? null : `…${key.length < 8 ? '' : printable(key.slice(-4))}`,
        ignored: headers[ignoredHeader]?.split(',') ?? [],
      };
      kept.push(logged);
      if (kept.length >= 2 * maxLogged) kept = kept.slice(-maxLogged);
      return logged;
    },
    latest: (count) => kept.slice(-Math.min(count, maxLogged)),
  };
}

export function logLine({ time, method, path, status, ms, partner, key, ignored }: LoggedRequest): string {
  const who = key === null ? 'no key' : `${partner === null ? 'unknown key' : `key ${partner}`} ${key}`;
  return `${time} ${method} ${path} ${status} ${ms} ms, ${who}${ignored.length === 0 ? '' : `, ignored: ${ignored.join(', ')}`}`;
}

function shownPath(target: string, key: string | undefined): string {
  const [path = '', ...query] = target.slice(0, maxPath).split(/([?&])/);
  const shown = [path, ...query.map((part) => (isSecret(part) ? `${part.split('=', 1)[0]}=***` : part))].join('');
  return printable(key === undefined || key.length < 4 ? shown : shown.replaceAll(key, '***'));
}

function isSecret(part: string): boolean {
  const [name = '', value] = part.split('=', 2);
  return value !== undefined && /key|token|secret|auth|password|signature/i.test(decodePart(name) ?? name);
}
